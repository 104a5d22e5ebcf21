#include "allocate/line.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "allocate/charge_kind.h"
#include "allocate/node_index.h"
#include "core/billing_period.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// Whether the line's resource fits several nodes, so that it is given to none.
bool find_target(Line& line, const NodeIndex& index, const Fleet& fleet) {
  const Charge& charge = *line.charge;
  FoundNode found = find_node(index, charge, [&](std::uint32_t machine) {
    const auto& present = fleet.machines()[machine].present;
    return present && present->overlap(charge.charge_period);
  });
  if (!found.places.empty()) {
    line.node = fleet.machines()[found.places.front()].node->name;
    if (is_for_devices(charge) && !is_unused(charge)) {
      line.machines = std::move(found.places);
      line.kind = TargetKind::kMachine;
      return false;
    }
  }
  if (is_unused(charge)) {
    line.kind = TargetKind::kIdle;
    return found.is_ambiguous;
  }
  if (charge.pool.empty() || !is_for_devices(charge)) return found.is_ambiguous;
  for (std::uint32_t leaf = 0; leaf < fleet.leaves().size(); ++leaf) {
    if (fleet.leaves()[leaf].pool.text() == charge.pool) line.leaves.push_back(leaf);
  }
  if (!line.leaves.empty()) line.kind = TargetKind::kPool;
  return found.is_ambiguous;
}

const NodeShape& shape_behind(const Line& line, const Fleet& fleet) {
  const std::uint32_t machine = line.kind == TargetKind::kMachine
                                    ? line.machines.front()
                                    : fleet.leaves()[line.leaves.front()].nodes.front();
  return fleet.machines()[machine].shape;
}

// Its month was closed when it came, and the time of that month was told then.
bool is_booked_late(const Charge& charge) {
  return !charge.booked_month.empty() &&
         charge.booked_month !=
             BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text();
}

// The plain price of the device's hours, of which a node should have one.
bool is_plain_usage(const Charge& charge) {
  return charge.charge_category == ChargeCategory::kUsage && !charge.is_correction &&
         !charge.costs.list.is_negative() && !is_booked_late(charge);
}

// Which stretches of time have been told already, by node or pool. What is told never overlaps.
class ToldTime {
 public:
  bool tell(const std::string& whose, const Interval& stretch) {
    if (overlaps(whose, stretch)) return false;
    told_[whose].insert(stretch);
    return true;
  }
  bool overlaps(const std::string& whose, const Interval& stretch) const {
    const auto found = told_.find(whose);
    if (found == told_.end()) return false;
    const auto& told = found->second;
    const auto after = told.lower_bound(stretch);
    if (after != told.end() && after->overlap(stretch)) return true;
    return after != told.begin() && std::prev(after)->overlap(stretch);
  }

 private:
  std::map<std::string, std::set<Interval>> told_;
};

// Decides for each line and stretch whether its postings carry the GPU time. Lines of nodes come
// first, then lines of pools none of whose nodes has told its own.
void choose_time_carriers(Lines& lines, const Fleet& fleet) {
  std::vector<Line*> order;
  for (Line& line : lines.all) {
    line.carries_time.assign(line.stretches.size(), false);
    const bool has_devices = line.kind == TargetKind::kMachine || line.kind == TargetKind::kPool;
    if (has_devices && is_plain_usage(*line.charge)) order.push_back(&line);
  }
  std::stable_sort(order.begin(), order.end(), [](const Line* a, const Line* b) {
    if (a->kind != b->kind) return a->kind < b->kind;
    return a->charge->costs.list.ticks() > b->charge->costs.list.ticks();
  });
  ToldTime told;
  for (Line* line : order) {
    for (std::size_t s = 0; s < line->stretches.size(); ++s) {
      const Interval& stretch = lines.stretches[line->stretches[s]];
      if (line->kind == TargetKind::kMachine) {
        line->carries_time[s] = told.tell("node " + line->node.text(), stretch);
        continue;
      }
      bool by_node = false;
      for (const std::uint32_t leaf : line->leaves) {
        for (const std::uint32_t m : fleet.leaves()[leaf].nodes) {
          by_node |= told.overlaps("node " + fleet.machines()[m].node->name.text(), stretch);
        }
      }
      if (!by_node) line->carries_time[s] = told.tell("pool " + line->charge->pool, stretch);
    }
  }
}

void cut_stretches(Lines& lines, const TimeZone& zone) {
  std::map<Interval, std::vector<Interval>> by_period;
  std::map<Interval, std::uint32_t> index;
  for (const Line& line : lines.all) {
    auto& pieces = by_period[line.charge->charge_period];
    if (!pieces.empty()) continue;
    pieces = cut_by_day(line.charge->charge_period, zone);
    for (const Interval& piece : pieces) index.emplace(piece, 0);
  }
  for (auto& [stretch, position] : index) {
    position = static_cast<std::uint32_t>(lines.stretches.size());
    lines.stretches.push_back(stretch);
  }
  for (Line& line : lines.all) {
    for (const Interval& piece : by_period[line.charge->charge_period]) {
      line.stretches.push_back(index[piece]);
    }
  }
}

// Which line carries time is settled among all of them; then stretches that can't change are
// dropped, and with them the lines that have no other.
void leave_only(Lines& lines, const Interval& changed) {
  std::vector<std::uint32_t> place(lines.stretches.size(), kNone);
  for (Line& line : lines.all) {
    line.is_posted = line.charge->charge_period.overlap(changed).has_value();
    if (!line.is_posted) continue;
    for (const std::uint32_t stretch : line.stretches) place[stretch] = 0;
  }
  std::vector<Interval> kept;
  for (std::size_t s = 0; s < place.size(); ++s) {
    if (place[s] == kNone) continue;
    place[s] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(lines.stretches[s]);
  }
  lines.stretches = std::move(kept);
  for (Line& line : lines.all) {
    std::vector<std::uint32_t> left;
    std::vector<bool> carries;
    for (std::size_t s = 0; s < line.stretches.size(); ++s) {
      if (place[line.stretches[s]] == kNone) continue;
      left.push_back(place[line.stretches[s]]);
      carries.push_back(line.carries_time[s]);
    }
    line.stretches = std::move(left);
    line.carries_time = std::move(carries);
  }
  std::erase_if(lines.all, [](const Line& line) { return line.stretches.empty(); });
}

}  // namespace

std::optional<Interval> reach_of(std::span<const Charge> charges, const Interval& changed,
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

Lines lines_of(std::span<const Charge> charges, const Fleet& fleet, const Policy& policy,
               const Catalog& catalog, const std::optional<Interval>& changed,
               std::span<const JoinRule> rules) {
  std::vector<const Node*> nodes;
  for (const Fleet::Machine& machine : fleet.machines()) nodes.push_back(machine.node);
  const NodeIndex index(std::move(nodes), rules);
  Lines lines;
  // A line of one of these days may carry the GPU time of another's; lines beyond them can't.
  const auto reach = changed ? reach_of(charges, *changed, policy.time_zone) : std::nullopt;
  if (!changed) lines.all.reserve(charges.size());
  for (const Charge& charge : charges) {
    if (changed && !(reach && charge.charge_period.overlap(*reach))) continue;
    Line& line = lines.all.emplace_back();
    line.charge = &charge;
    if (find_target(line, index, fleet)) {
      std::string& example = lines.ambiguous_example;
      const std::string& named =
          charge.resource_id.empty() ? charge.resource_name : charge.resource_id;
      if (lines.ambiguous == 0 || named < example) example = named;
      lines.ambiguous += 1;
    }
    if (line.kind == TargetKind::kMachine || line.kind == TargetKind::kPool) {
      line.split = component_split(charge, shape_behind(line, fleet), policy, catalog);
      if (line.split.price_missing) lines.without_price += 1;
    }
  }
  std::sort(lines.all.begin(), lines.all.end(),
            [](const Line& a, const Line& b) { return a.charge->id < b.charge->id; });
  cut_stretches(lines, policy.time_zone);
  choose_time_carriers(lines, fleet);
  if (changed) leave_only(lines, *changed);
  return lines;
}

}  // namespace pennyweight
