// NodeBill: what each hour of each node costs on the bill, and whether giving it back saves that.
//
// Only lines for one node count. What a commitment or a capacity reservation covers is paid anyway,
// so it is never saved before the commitment ends.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "insight/advice/fleet_hours.h"
#include "insight/compare/fleet_view.h"

namespace pennyweight::advising {

struct NodeLine {
  const Charge* charge;
  bool is_on_demand;  // at a fixed price, and not spot
};

class NodeBill {
 public:
  // REQUIRES: the arguments outlive it.
  NodeBill(std::span<const Charge> charges, const FleetView& fleet, Money Costs::* cost);

  // Lines that are not paid if the node is not there.
  const std::vector<NodeLine>& avoidable(std::uint32_t node) const { return avoidable_[node]; }
  // All lines that are the price of the node, avoidable or not.
  const std::vector<const Charge*>& lines(std::uint32_t node) const { return lines_[node]; }
  bool is_committed(std::uint32_t node) const { return committed_[node]; }
  // Nodes that the bill names only together with others of their pool.
  std::uint64_t charged_together() const { return charged_together_; }
  // The nodes with avoidable lines, the dearest first, then by name.
  const std::vector<std::uint32_t>& by_cost() const { return by_cost_; }

  // What falls away if the node is not there in these hours: each line by its time in them.
  std::map<Currency, Money> cost_of(std::uint32_t node, const FleetHours& fleet_hours,
                                    const HourFlags& hours) const;
  // The same of its on-demand lines.
  std::map<Currency, Money> on_demand_cost_of(std::uint32_t node, const FleetHours& fleet_hours,
                                              const HourFlags& hours) const;
  Money Costs::* cost() const { return cost_; }

 private:
  std::map<Currency, Money> sum_lines(std::uint32_t node, const FleetHours& fleet_hours,
                                      const HourFlags& hours, bool is_only_on_demand) const;

  Money Costs::* cost_;
  std::vector<std::vector<NodeLine>> avoidable_;   // by node
  std::vector<std::vector<const Charge*>> lines_;  // by node
  std::vector<bool> committed_;
  std::uint64_t charged_together_ = 0;
  std::vector<std::uint32_t> by_cost_;
};

// The milliseconds of `during` that lie in these hours.
std::uint64_t overlap_ms(const Interval& during, const FleetHours& fleet_hours,
                         const HourFlags& hours);

}  // namespace pennyweight::advising
