// post(): the shares of one line into its postings, exact in all four costs.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "allocate/share.h"
#include "ledger/holding.h"
#include "ledger/posting.h"

namespace pennyweight {

// The line's amounts are first divided by its component split, then each component by the weights
// of its shares; both by largest remainder, so nothing is lost. A component that nobody and nothing
// has a share in (a node that was never there) is unallocated over the line's stretches.
// REQUIRES: `shares` are all of the line's. They are taken and put in order. `days` is the local
//           day of each of Lines::stretches. `held` is as `holdings`; those that have a posting are
//           set, also by many threads at once.
// ENSURES:  the postings add up to the charge with ==; shares with the same component, stretch,
//           node, card and holder are one posting.
std::vector<Posting> post(const Line& line, std::vector<Share> shares, const Lines& lines,
                          std::span<const std::chrono::sys_days> days, const Fleet& fleet,
                          std::span<const Holding* const> holdings,
                          std::span<std::atomic<bool>> held);

}  // namespace pennyweight
