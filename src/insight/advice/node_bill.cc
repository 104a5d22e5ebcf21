#include "insight/advice/node_bill.h"

#include <algorithm>
#include <set>

#include "insight/advice/proposal.h"

namespace pennyweight::advising {
namespace {

bool is_paid_anyway(const Charge& charge) {
  return charge.pricing_category == PricingCategory::kCommitted ||
         !charge.commitment_discount_id.empty() || !charge.capacity_reservation_id.empty();
}

}  // namespace

NodeBill::NodeBill(std::span<const Charge> charges, const FleetView& fleet, Money Costs::* cost)
    : cost_(cost),
      avoidable_(fleet.nodes().size()),
      lines_(fleet.nodes().size()),
      committed_(fleet.nodes().size(), false) {
  std::set<std::uint32_t> together;
  std::map<std::uint32_t, Int128> per_hour;  // ticks an hour, of all currencies: for the order only
  for (const Charge& charge : charges) {
    const std::vector<std::uint32_t> nodes = fleet.nodes_of(charge);
    if (nodes.size() > 1) together.insert(nodes.begin(), nodes.end());
    if (nodes.size() != 1) continue;
    const std::uint32_t node = nodes.front();
    lines_[node].push_back(&charge);
    if (is_paid_anyway(charge)) {
      committed_[node] = true;
      continue;
    }
    avoidable_[node].push_back({&charge, charge.pricing_category != PricingCategory::kDynamic &&
                                             charge.charge_category == ChargeCategory::kUsage});
    per_hour[node] =
        std::max(per_hour[node],
                 scaled(charge.costs.*cost, 3'600'000, charge.charge_period.length_ms()).ticks());
  }
  charged_together_ = together.size();
  for (std::uint32_t node = 0; node < avoidable_.size(); ++node) {
    // One whose price is in part not known on its own can't be given back by itself.
    if (together.contains(node)) {
      avoidable_[node].clear();
      lines_[node].clear();
    }
    if (!avoidable_[node].empty()) by_cost_.push_back(node);
  }
  std::stable_sort(by_cost_.begin(), by_cost_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return per_hour[a] > per_hour[b]; });
}

std::uint64_t overlap_ms(const Interval& during, const FleetHours& fleet_hours,
                         const HourFlags& hours) {
  std::uint64_t sum = 0;
  if (hours.empty()) return sum;
  const auto hour_ms = static_cast<std::int64_t>(fleet_hours.hour(0).length_ms());
  const std::int64_t from = (during.begin() - fleet_hours.hour(0).begin()).count();
  std::size_t hour = from <= 0 ? 0 : static_cast<std::size_t>(from / hour_ms);
  for (; hour < hours.size(); ++hour) {
    const Interval each = fleet_hours.hour(hour);
    if (each.begin() >= during.end()) break;
    if (!hours[hour]) continue;
    if (const auto both = each.overlap(during)) sum += both->length_ms();
  }
  return sum;
}

std::map<Currency, Money> NodeBill::cost_of(std::uint32_t node, const FleetHours& fleet_hours,
                                            const HourFlags& hours) const {
  return sum_lines(node, fleet_hours, hours, false);
}

std::map<Currency, Money> NodeBill::on_demand_cost_of(std::uint32_t node,
                                                      const FleetHours& fleet_hours,
                                                      const HourFlags& hours) const {
  return sum_lines(node, fleet_hours, hours, true);
}

std::map<Currency, Money> NodeBill::sum_lines(std::uint32_t node, const FleetHours& fleet_hours,
                                              const HourFlags& hours,
                                              bool is_only_on_demand) const {
  std::map<Currency, Money> sums;
  for (const NodeLine& line : avoidable_[node]) {
    if (is_only_on_demand && !line.is_on_demand) continue;
    const Charge& charge = *line.charge;
    const std::uint64_t ms = overlap_ms(charge.charge_period, fleet_hours, hours);
    if (ms == 0) continue;
    const Money part = scaled(charge.costs.*cost_, ms, charge.charge_period.length_ms());
    sums.try_emplace(part.currency(), Money::zero(part.currency())).first->second += part;
  }
  return sums;
}

}  // namespace pennyweight::advising
