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

// The time reported so far, by node or pool. Its intervals never overlap.
class ReportedTime {
 public:
  void add(const std::string& whose, const Interval& interval) {
    reported_[whose].insert(interval);
  }

  // The borders of what is reported within `interval`, without its own.
  void add_borders(const std::string& whose, const Interval& interval,
                   std::vector<Instant>& borders) const {
    for_each_overlap(whose, interval, [&](const Interval& both) {
      if (both.begin() > interval.begin()) borders.push_back(both.begin());
      if (both.end() < interval.end()) borders.push_back(both.end());
    });
  }
  bool overlaps(const std::string& whose, const Interval& interval) const {
    bool any = false;
    for_each_overlap(whose, interval, [&](const Interval&) { any = true; });
    return any;
  }

 private:
  template <class Act>
  void for_each_overlap(const std::string& whose, const Interval& interval, Act act) const {
    const auto found = reported_.find(whose);
    if (found == reported_.end()) return;
    const auto& reported = found->second;
    auto at = reported.lower_bound(interval);
    if (at != reported.begin()) --at;
    for (; at != reported.end() && at->begin() < interval.end(); ++at) {
      if (const auto both = at->overlap(interval)) act(*both);
    }
  }

  std::map<std::string, std::set<Interval>> reported_;
};

// A piece of a charge's period, and whether its postings carry the GPU time.
struct ChargePiece {
  Interval during;
  bool carries_time = false;
  std::vector<std::uint32_t> told_elsewhere = {};
};

class TimeCarriers {
 public:
  explicit TimeCarriers(const Fleet& fleet) : fleet_(fleet) {}

  // Decides for each piece whether it carries the GPU time, and cuts those that another charge has
  // reported in part.
  void choose(const ResolvedCharge& resolved, std::vector<ChargePiece>& pieces) {
    std::vector<ChargePiece> out;
    for (const ChargePiece& piece : pieces) {
      std::vector<Instant> borders;
      if (resolved.kind == TargetKind::kMachine) {
        reported_.add_borders(node_key(resolved.node), piece.during, borders);
      } else {
        reported_.add_borders(pool_key(resolved), piece.during, borders);
        for_each_node(resolved, [&](std::uint32_t, const std::string& key) {
          reported_.add_borders(key, piece.during, borders);
        });
      }
      std::sort(borders.begin(), borders.end());
      borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
      borders.push_back(piece.during.end());
      Instant begin = piece.during.begin();
      for (const Instant end : borders) {
        out.push_back({.during = {begin, end}});
        begin = end;
      }
    }
    for (ChargePiece& piece : out) report(resolved, piece);
    pieces = std::move(out);
  }

 private:
  static std::string node_key(const NodeId& node) { return "node " + node.text(); }
  static std::string pool_key(const ResolvedCharge& resolved) {
    return "pool " + resolved.charge->pool;
  }
  template <class Act>
  void for_each_node(const ResolvedCharge& resolved, Act act) const {
    for (const std::uint32_t node_group : resolved.node_groups) {
      for (const std::uint32_t m : fleet_.node_groups()[node_group].nodes) {
        act(m, node_key(fleet_.machines()[m].node->name));
      }
    }
  }

  void report(const ResolvedCharge& resolved, ChargePiece& piece) {
    const std::string key =
        resolved.kind == TargetKind::kMachine ? node_key(resolved.node) : pool_key(resolved);
    piece.carries_time = !reported_.overlaps(key, piece.during);
    if (!piece.carries_time) return;
    reported_.add(key, piece.during);
    if (resolved.kind == TargetKind::kMachine) return;
    for_each_node(resolved, [&](std::uint32_t machine, const std::string& node) {
      if (reported_.overlaps(node, piece.during)) piece.told_elsewhere.push_back(machine);
    });
    std::sort(piece.told_elsewhere.begin(), piece.told_elsewhere.end());
  }

  const Fleet& fleet_;
  ReportedTime reported_;
};

// Charges for nodes come first, then charges for pools.
std::vector<std::size_t> carriers_in_order(const ResolvedCharges& charges) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < charges.all.size(); ++i) {
    const ResolvedCharge& resolved = charges.all[i];
    const bool has_devices =
        resolved.kind == TargetKind::kMachine || resolved.kind == TargetKind::kPool;
    if (has_devices && is_plain_usage(*resolved.charge)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const ResolvedCharge &a = charges.all[i], &b = charges.all[j];
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.charge->costs.list.ticks() > b.charge->costs.list.ticks();
  });
  return order;
}

void cut_into_segments(ResolvedCharges& charges, const Fleet& fleet, const TimeZone& zone) {
  std::map<Interval, std::vector<Interval>> by_period;
  std::vector<std::vector<ChargePiece>> pieces(charges.all.size());
  for (std::size_t i = 0; i < charges.all.size(); ++i) {
    const Interval& period = charges.all[i].charge->charge_period;
    auto& days = by_period[period];
    if (days.empty()) days = cut_by_day(period, zone);
    for (const Interval& day : days) pieces[i].push_back({.during = day});
  }
  TimeCarriers carriers(fleet);
  for (const std::size_t i : carriers_in_order(charges)) carriers.choose(charges.all[i], pieces[i]);

  std::map<Interval, std::uint32_t> index;
  for (const auto& of_charge : pieces) {
    for (const ChargePiece& piece : of_charge) index.emplace(piece.during, 0);
  }
  for (auto& [segment, position] : index) {
    position = static_cast<std::uint32_t>(charges.segments.size());
    charges.segments.push_back(segment);
  }
  for (std::size_t i = 0; i < charges.all.size(); ++i) {
    ResolvedCharge& resolved = charges.all[i];
    for (ChargePiece& piece : pieces[i]) {
      resolved.segments.push_back(index[piece.during]);
      resolved.carries_time.push_back(piece.carries_time);
      if (resolved.kind == TargetKind::kPool) {
        resolved.told_elsewhere.push_back(std::move(piece.told_elsewhere));
      }
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
    std::vector<std::vector<std::uint32_t>> told_elsewhere;
    for (std::size_t s = 0; s < resolved.segments.size(); ++s) {
      if (new_index[resolved.segments[s]] == kNoIndex) continue;
      segments.push_back(new_index[resolved.segments[s]]);
      carries.push_back(resolved.carries_time[s]);
      if (!resolved.told_elsewhere.empty()) {
        told_elsewhere.push_back(std::move(resolved.told_elsewhere[s]));
      }
    }
    resolved.segments = std::move(segments);
    resolved.carries_time = std::move(carries);
    resolved.told_elsewhere = std::move(told_elsewhere);
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
      if (!resolved.split.rate_missing.empty()) out.without_rate[resolved.split.rate_missing] += 1;
    }
  }
  std::sort(out.all.begin(), out.all.end(), [](const ResolvedCharge& a, const ResolvedCharge& b) {
    return a.charge->id < b.charge->id;
  });
  cut_into_segments(out, fleet, policy.time_zone);
  if (changed) drop_unchanged(out, *changed);
  return out;
}

}  // namespace pennyweight
