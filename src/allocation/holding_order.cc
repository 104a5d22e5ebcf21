#include "allocation/holding_order.h"

#include <algorithm>
#include <tuple>

namespace pennyweight {

bool comes_before(const Holding& a, const Holding& b) {
  return std::tie(a.held, a.workload, a.attempt, a.id) <
         std::tie(b.held, b.workload, b.attempt, b.id);
}

std::vector<const Holding*> sort_holdings(std::span<const Holding> holdings,
                                          const std::optional<Interval>& during) {
  std::vector<const Holding*> order;
  if (!during) order.reserve(holdings.size());
  for (const Holding& holding : holdings) {
    if (!during || holding.held.overlap(*during)) order.push_back(&holding);
  }
  std::sort(order.begin(), order.end(),
            [](const Holding* a, const Holding* b) { return comes_before(*a, *b); });
  return order;
}

}  // namespace pennyweight
