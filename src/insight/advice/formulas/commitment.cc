#include "insight/advice/formulas/commitment.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/check.h"

namespace pennyweight::advising {

Decimal commitment_cost(std::span<const std::uint64_t> demand, const CommitmentPrices& prices,
                        std::uint64_t units) {
  Int128 beyond = 0;
  for (const std::uint64_t each : demand) {
    if (each > units) beyond += static_cast<Int128>(each - units);
  }
  const Int128 committed = static_cast<Int128>(units) * static_cast<Int128>(demand.size());
  Int128 fixed = 0;
  Int128 rest = 0;
  Int128 cost = 0;
  const bool overflow = __builtin_mul_overflow(prices.committed.ticks(), committed, &fixed) ||
                        __builtin_mul_overflow(prices.on_demand.ticks(), beyond, &rest) ||
                        __builtin_add_overflow(fixed, rest, &cost);
  CHECK(!overflow, "the cost of a commitment fits a Decimal");
  return Decimal::from_ticks(cost);
}

std::uint64_t best_commitment(std::span<const std::uint64_t> demand,
                              const CommitmentPrices& prices) {
  if (prices.committed >= prices.on_demand) return 0;
  std::vector<std::uint64_t> sorted(demand.begin(), demand.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  // One more unit pays while the hours that need it cost more on demand than all hours committed.
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Int128 hours = static_cast<Int128>(i) + 1;
    const auto all = static_cast<Int128>(sorted.size());
    if (prices.on_demand.ticks() * hours > prices.committed.ticks() * all) {
      best = sorted[i];
      break;
    }
  }
  return best;
}

}  // namespace pennyweight::advising
