#include "compare/peer_costs.h"

#include <set>

namespace pennyweight {

PeerCosts peer_costs(Preset preset, const ClusterMonth& month, Money Costs::* cost) {
  const std::vector<HeldAs> ways = ways_of_holding(month);
  std::set<Currency> currencies;
  for (const Charge& charge : month.charges) currencies.insert(charge.costs.currency());
  PartSum sum;
  std::vector<bool> covered(month.charges.size(), false);
  for (const Currency& currency : currencies) {
    const SlotPlaces places = places_of(preset, month, currency, cost);
    for (std::size_t c = 0; c < covered.size(); ++c) {
      covered[c] = covered[c] || places.covered[c];
    }
    for (const Place& place : places.all) {
      for (const Slot& slot : place.slots) {
        const SlotCosts costs = price_slot(preset, slot);
        for (std::size_t i = 0; i < slot.claims.size(); ++i) {
          const std::uint32_t holding = slot.claims[i].holding;
          sum.add({month.holdings[holding].workload, place.node, "", to_text(ways[holding]),
                   costs.claims[i].sum()});
        }
        // Below zero: more was charged than the node costs, which must not hide what stands idle.
        const bool below = costs.idle.is_negative() != slot.costs.sum().is_negative();
        if (!costs.idle.is_zero()) {
          sum.add({WorkloadId(""), place.node, below ? kNegativeIdle : "unallocated",
                   below ? kNegativeIdle : kIdle, costs.idle});
        }
        if (!costs.undocumented.is_zero()) {
          sum.add(
              {WorkloadId(""), place.node, "not documented", kUndocumented, costs.undocumented});
        }
      }
    }
  }
  return {sum.parts(), covered};
}

}  // namespace pennyweight
