// Portfolio: which proposals can be followed together, and what they save then.
#pragma once

#include <span>
#include <vector>

#include "insight/advice/proposal.h"

namespace pennyweight::advising {

// Two proposals exclude each other if they are alternatives of one set, or if one conflicts with
// the set of the other. Each saves what is left after those that it builds on, so the sums are what
// all of the chosen ones save.
struct Portfolio {
  std::vector<bool> chosen;           // by proposal
  std::vector<MonthlySaving> totals;  // by currency
};

// Those that together save most by their expected savings; of equally good ones the first. Among
// proposals that exclude each other, directly or through others, it is the optimum up to
// kExactConflicts of them; of more, what is found by leaving out one set of alternatives at a time,
// for at most kSetsTried of them.
Portfolio combine(std::span<const Proposal> proposals);

inline constexpr std::size_t kExactConflicts = 16;
inline constexpr std::size_t kSetsTried = 64;

}  // namespace pennyweight::advising
