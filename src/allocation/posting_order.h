// The order in which a run divides a charge among its postings. Units left by largest remainder go
// to the earlier of equal shares (core/split.h), so recomputing an amount needs this order. Stores
// return postings in another one (ledger/store_rules.h).
#pragma once

#include <span>

#include "ledger/holding.h"
#include "ledger/posting.h"

namespace pennyweight {

// Sorts by component, day, node, GPU and kind; a bucket before holdings; then as holding_order.h.
// `holders` are the holdings of the postings; postings of other holdings come last, in their
// present order. REQUIRES: the postings are of one charge.
void sort_in_run_order(std::span<Posting> postings, std::span<const Holding> holders);

}  // namespace pennyweight
