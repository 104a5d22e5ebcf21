// post_charge(): turns the shares of one charge into its postings, exact in all four costs.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "allocation/weighted_share.h"
#include "ledger/holding.h"
#include "ledger/posting.h"

namespace pennyweight {

// The charge is first divided by its component split, then each component by the weights of its
// shares, both by largest remainder. A component without any share (the node was never there) is
// unallocated over the charge's segments.
// REQUIRES: `shares` are all of the charge's. They are consumed. `days` is the local day of each of
//           ResolvedCharges::segments. `held` has one flag for each of `holdings`; the flags of
//           those with a posting are set. Thread-safe.
// ENSURES:  the postings add up to the charge with ==; shares with the same component, segment,
//           node, GPU and holder become one posting.
std::vector<Posting> post_charge(const ResolvedCharge& resolved, std::vector<WeightedShare> shares,
                                 const ResolvedCharges& charges,
                                 std::span<const std::chrono::sys_days> days, const Fleet& fleet,
                                 std::span<const Holding* const> holdings,
                                 std::span<std::atomic<bool>> held);

}  // namespace pennyweight
