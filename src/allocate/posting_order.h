// The order in which a run divides a line's amount among its postings. What no share takes whole
// goes to the earlier of equals (core/split.h), so who computes amounts again needs this order.
// Keepers hand postings over in another (ledger/keeping.h).
#pragma once

#include <span>

#include "ledger/holding.h"
#include "ledger/posting.h"

namespace pennyweight {

// By component, day, node, card and kind; a bucket before what is held; then as holding_order.h has
// the holdings. `holders` are those of the postings: what is held by none of them comes last, in
// the order in which it came. REQUIRES: the postings are of one charge.
void to_run_order(std::span<Posting> postings, std::span<const Holding> holders);

}  // namespace pennyweight
