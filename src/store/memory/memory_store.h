// The ledger in sorted containers: for tests, and for commands that keep nothing. Simple rather
// than fast, so that it can be the measure of the other keepers.
#pragma once

#include <memory>

#include "ledger/store.h"

namespace pennyweight {

std::unique_ptr<Store> make_memory_store();

}  // namespace pennyweight
