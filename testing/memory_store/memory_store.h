// The ledger in sorted containers: for tests, and for commands that keep nothing. Simple rather
// than fast, so that it can be the measure of the other stores.
#pragma once

#include <memory>

#include "ledger/store.h"

namespace pennyweight {

// `is_alone`: false for one that stands for a ledger which several programs have open; then a claim
// in it may be of somebody who lives.
std::unique_ptr<Store> make_memory_store(bool is_alone = true);

}  // namespace pennyweight
