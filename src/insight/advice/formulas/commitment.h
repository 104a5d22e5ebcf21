// How many units to commit to: the newsvendor's quantile, in exact arithmetic.
//
// K committed units are paid every hour at the committed rate; what an hour needs beyond them is
// bought on demand. The cheapest K is the largest one that at least committed / on_demand of all
// hours need.
#pragma once

#include <cstdint>
#include <span>

#include "core/decimal.h"

namespace pennyweight::advising {

struct CommitmentPrices {  // of one unit and hour; REQUIRES: neither is negative
  Decimal on_demand;
  Decimal committed;
};

// What all hours cost with `units` committed. REQUIRES: it fits a Decimal.
Decimal commitment_cost(std::span<const std::uint64_t> demand, const CommitmentPrices& prices,
                        std::uint64_t units);

// The number of units that costs least; of equally cheap ones the smallest, which binds least. 0
// without demand.
std::uint64_t best_commitment(std::span<const std::uint64_t> demand,
                              const CommitmentPrices& prices);

}  // namespace pennyweight::advising
