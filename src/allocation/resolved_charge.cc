#include "allocation/resolved_charge.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "allocation/charge_kind.h"
#include "allocation/node_index.h"
#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// Returns whether the charge's resource matches several nodes, so that it is assigned to none.
bool find_target(ResolvedCharge& resolved, const NodeIndex& index, const Fleet& fleet) {
  const Charge& charge = *resolved.charge;
  NodeMatch found = find_node(index, charge, [&](std::uint32_t machine) {
    const auto& present = fleet.machines()[machine].present;
    return present && present->overlap(charge.charge_period);
  });
  if (!found.positions.empty()) {
    resolved.node = fleet.machines()[found.positions.front()].node->name;
    if (is_for_devices(charge) && !is_unused(charge)) {
      resolved.machines = std::move(found.positions);
      resolved.kind = TargetKind::kMachine;
      return false;
    }
  }
  if (is_unused(charge)) {
    resolved.kind = TargetKind::kUnusedCommitment;
    return found.is_ambiguous;
  }
  if (charge.pool.empty() || !is_for_devices(charge)) return found.is_ambiguous;
  for (std::uint32_t node_group = 0; node_group < fleet.node_groups().size(); ++node_group) {
    if (fleet.node_groups()[node_group].pool.text() == charge.pool)
      resolved.node_groups.push_back(node_group);
  }
  if (!resolved.node_groups.empty()) resolved.kind = TargetKind::kPool;
  return found.is_ambiguous;
}

const NodeShape& shape_of_target(const ResolvedCharge& resolved, const Fleet& fleet) {
  const std::uint32_t machine =
      resolved.kind == TargetKind::kMachine
          ? resolved.machines.front()
          : fleet.node_groups()[resolved.node_groups.front()].nodes.front();
  return fleet.machines()[machine].shape;
}

// Its billing month was closed when it arrived, and the time of that month was reported then.
bool is_booked_in_later_month(const Charge& charge) {
  return !charge.booked_month.empty() &&
         charge.booked_month !=
             BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text();
}

// The plain price of the device's hours. A node should have one such charge.
bool is_plain_usage(const Charge& charge) {
  return charge.charge_category == ChargeCategory::kUsage && !charge.is_correction &&
         !charge.costs.list.is_negative() && !is_booked_in_later_month(charge);
}

// The time segments reported so far, by node or pool. They never overlap.
class ReportedTime {
 public:
  bool add(const std::string& whose, const Interval& segment) {
    if (overlaps(whose, segment)) return false;
    reported_[whose].insert(segment);
    return true;
  }
  bool overlaps(const std::string& whose, const Interval& segment) const {
    const auto found = reported_.find(whose);
    if (found == reported_.end()) return false;
    const auto& reported = found->second;
    const auto after = reported.lower_bound(segment);
    if (after != reported.end() && after->overlap(segment)) return true;
    return after != reported.begin() && std::prev(after)->overlap(segment);
  }

 private:
  std::map<std::string, std::set<Interval>> reported_;
};

// Decides for each charge and segment whether its postings carry the GPU time. Charges for nodes
// come first, then charges for pools none of whose nodes reported its own.
void choose_time_carriers(ResolvedCharges& charges, const Fleet& fleet) {
  std::vector<ResolvedCharge*> order;
  for (ResolvedCharge& resolved : charges.all) {
    resolved.carries_time.assign(resolved.segments.size(), false);
    const bool has_devices =
        resolved.kind == TargetKind::kMachine || resolved.kind == TargetKind::kPool;
    if (has_devices && is_plain_usage(*resolved.charge)) order.push_back(&resolved);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const ResolvedCharge* a, const ResolvedCharge* b) {
                     if (a->kind != b->kind) return a->kind < b->kind;
                     return a->charge->costs.list.ticks() > b->charge->costs.list.ticks();
                   });
  ReportedTime reported;
  for (ResolvedCharge* resolved : order) {
    for (std::size_t s = 0; s < resolved->segments.size(); ++s) {
      const Interval& segment = charges.segments[resolved->segments[s]];
      if (resolved->kind == TargetKind::kMachine) {
        resolved->carries_time[s] = reported.add("node " + resolved->node.text(), segment);
        continue;
      }
      bool by_node = false;
      for (const std::uint32_t node_group : resolved->node_groups) {
        for (const std::uint32_t m : fleet.node_groups()[node_group].nodes) {
          by_node |= reported.overlaps("node " + fleet.machines()[m].node->name.text(), segment);
        }
      }
      if (!by_node)
        resolved->carries_time[s] = reported.add("pool " + resolved->charge->pool, segment);
    }
  }
}

void cut_into_segments(ResolvedCharges& charges, const TimeZone& zone) {
  std::map<Interval, std::vector<Interval>> by_period;
  std::map<Interval, std::uint32_t> index;
  for (const ResolvedCharge& resolved : charges.all) {
    auto& pieces = by_period[resolved.charge->charge_period];
    if (!pieces.empty()) continue;
    pieces = cut_by_day(resolved.charge->charge_period, zone);
    for (const Interval& piece : pieces) index.emplace(piece, 0);
  }
  for (auto& [segment, position] : index) {
    position = static_cast<std::uint32_t>(charges.segments.size());
    charges.segments.push_back(segment);
  }
  for (ResolvedCharge& resolved : charges.all) {
    for (const Interval& piece : by_period[resolved.charge->charge_period]) {
      resolved.segments.push_back(index[piece]);
    }
  }
}

// Drops segments that can't change, and charges without any other. Called once the carriers of time
// have been chosen among all charges.
void drop_unchanged(ResolvedCharges& charges, const Interval& changed) {
  std::vector<std::uint32_t> new_index(charges.segments.size(), kNoIndex);
  for (ResolvedCharge& resolved : charges.all) {
    resolved.is_posted = resolved.charge->charge_period.overlap(changed).has_value();
    if (!resolved.is_posted) continue;
    for (const std::uint32_t segment : resolved.segments) new_index[segment] = 0;
  }
  std::vector<Interval> kept;
  for (std::size_t s = 0; s < new_index.size(); ++s) {
    if (new_index[s] == kNoIndex) continue;
    new_index[s] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(charges.segments[s]);
  }
  charges.segments = std::move(kept);
  for (ResolvedCharge& resolved : charges.all) {
    std::vector<std::uint32_t> segments;
    std::vector<bool> carries;
    for (std::size_t s = 0; s < resolved.segments.size(); ++s) {
      if (new_index[resolved.segments[s]] == kNoIndex) continue;
      segments.push_back(new_index[resolved.segments[s]]);
      carries.push_back(resolved.carries_time[s]);
    }
    resolved.segments = std::move(segments);
    resolved.carries_time = std::move(carries);
  }
  std::erase_if(charges.all,
                [](const ResolvedCharge& resolved) { return resolved.segments.empty(); });
}

}  // namespace

std::optional<Interval> affected_days(std::span<const Charge> charges, const Interval& changed,
                                      const TimeZone& zone) {
  std::optional<Interval> reach;
  for (const Charge& charge : charges) {
    const Interval& period = charge.charge_period;
    if (!period.overlap(changed)) continue;
    if (!reach) reach = period;
    reach =
        Interval(std::min(reach->begin(), period.begin()), std::max(reach->end(), period.end()));
  }
  if (!reach) return std::nullopt;
  return Interval(day_of(reach->begin(), zone).begin(),
                  day_of(reach->end() - std::chrono::milliseconds(1), zone).end());
}

ResolvedCharges resolve_charges(std::span<const Charge> charges, const Fleet& fleet,
                                const Policy& policy, const Catalog& catalog,
                                const std::optional<Interval>& changed,
                                std::span<const JoinRule> rules) {
  std::vector<const Node*> nodes;
  for (const Fleet::Machine& machine : fleet.machines()) nodes.push_back(machine.node);
  const NodeIndex index(std::move(nodes), rules);
  ResolvedCharges out;
  // A charge on one of these days may carry the GPU time of another; charges beyond them can't.
  const auto reach = changed ? affected_days(charges, *changed, policy.time_zone) : std::nullopt;
  if (!changed) out.all.reserve(charges.size());
  for (const Charge& charge : charges) {
    if (changed && !(reach && charge.charge_period.overlap(*reach))) continue;
    ResolvedCharge& resolved = out.all.emplace_back();
    resolved.charge = &charge;
    if (find_target(resolved, index, fleet)) {
      std::string& example = out.ambiguous_example;
      const std::string& named =
          charge.resource_id.empty() ? charge.resource_name : charge.resource_id;
      if (out.ambiguous == 0 || named < example) example = named;
      out.ambiguous += 1;
    }
    if (resolved.kind == TargetKind::kMachine || resolved.kind == TargetKind::kPool) {
      resolved.split =
          compute_component_split(charge, shape_of_target(resolved, fleet), policy, catalog);
      if (resolved.split.price_missing) out.without_price += 1;
    }
  }
  std::sort(out.all.begin(), out.all.end(), [](const ResolvedCharge& a, const ResolvedCharge& b) {
    return a.charge->id < b.charge->id;
  });
  cut_into_segments(out, policy.time_zone);
  choose_time_carriers(out, fleet);
  if (changed) drop_unchanged(out, *changed);
  return out;
}

}  // namespace pennyweight
