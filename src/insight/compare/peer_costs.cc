#include "insight/compare/peer_costs.h"

#include <set>

namespace pennyweight {

PeerCosts peer_costs(Preset preset, const ClusterMonth& month, Money Costs::* cost) {
  const std::vector<HoldingType> ways = holding_types(month);
  std::set<Currency> currencies;
  for (const Charge& charge : month.charges) currencies.insert(charge.costs.currency());
  CostPartSum sum;
  std::vector<bool> covered(month.charges.size(), false);
  for (const Currency& currency : currencies) {
    const ComparedNodes places = collect_windows(preset, month, currency, cost);
    for (std::size_t c = 0; c < covered.size(); ++c) {
      covered[c] = covered[c] || places.covered[c];
    }
    for (const NodeWindows& place : places.all) {
      for (const NodeWindow& window : place.windows) {
        const WindowCosts costs = price_window(preset, window);
        for (std::size_t i = 0; i < window.claims.size(); ++i) {
          const std::uint32_t holding = window.claims[i].holding;
          sum.add({month.holdings[holding].workload, place.node, "", to_text(ways[holding]),
                   costs.claims[i].sum()});
        }
        // Negative: more was charged than the node costs, which must not hide idle capacity.
        const bool below = costs.idle.is_negative() != window.costs.sum().is_negative();
        if (!costs.idle.is_zero()) {
          sum.add({WorkloadId(""), place.node, below ? kNegativeIdleCause : "unallocated",
                   below ? kNegativeIdleCause : kIdleCause, costs.idle});
        }
        if (!costs.undocumented.is_zero()) {
          sum.add({WorkloadId(""), place.node, "not documented", kUndocumentedCause,
                   costs.undocumented});
        }
      }
    }
  }
  return {sum.parts(), covered};
}

}  // namespace pennyweight
