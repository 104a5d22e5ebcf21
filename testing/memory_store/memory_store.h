// The ledger in sorted containers: for tests, and for commands that keep nothing. It is simple
// rather than fast, so that it can serve as the reference for the other stores.
#pragma once

#include <memory>

#include "ledger/store.h"

namespace pennyweight {

// `is_alone`: false for a ledger that several programs have open; a claim in it may then belong to
// a live worker.
std::unique_ptr<Store> make_memory_store(bool is_alone = true);

}  // namespace pennyweight
