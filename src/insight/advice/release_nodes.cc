#include "insight/advice/release_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "allocation/components.h"

namespace pennyweight::advising {
namespace {

// What packing is likely to lose, what it loses at worst, and nothing.
constexpr Reserve kExpectedReserve{.pool_percent = 10, .spare_nodes = 0};
constexpr Reserve kCautiousReserve{.pool_percent = 25, .spare_nodes = 1};
constexpr Reserve kNoReserve{};
constexpr std::size_t kNamesMax = 40;
constexpr std::size_t kLongRecordHours = 504;  // 21 days

constexpr auto kLess = [](const Money& a, const Money& b) { return a.ticks() < b.ticks(); };

// The hours in which a node goes: all where it was free in every recorded hour that it was there,
// else stretches of free hours without the first hour of each.
HourFlags release_of(std::uint32_t node, const FleetHours& hours, const HourFlags& free) {
  HourFlags partial(free.size());
  bool is_needed = false;
  for (std::size_t hour = 0; hour < free.size(); ++hour) {
    if (!hours.is_recorded(hour) || !hours.is_there(node, hour)) continue;
    is_needed = is_needed || !free[hour];
    partial[hour] = free[hour] && hour > 0 && free[hour - 1];
  }
  return is_needed ? partial : free;
}

struct NodeGroup {
  std::string pool;
  std::string instance_type;
  std::string region;
  auto operator<=>(const NodeGroup&) const = default;
};

std::string subject_of(const NodeGroup& group) {
  std::string subject = group.pool.empty() ? "nodes" : fmt::format("pool {}", group.pool);
  if (!group.instance_type.empty()) subject += ", " + group.instance_type;
  if (!group.region.empty()) subject += ", " + group.region;
  return subject;
}

// Whether there is such an hour.
bool keep_less(HourFlags& kept, const HourFlags& given_back) {
  bool is_less = false;
  for (std::size_t hour = 0; hour < given_back.size(); ++hour) {
    if (given_back[hour]) kept[hour] = false;
    is_less = is_less || given_back[hour];
  }
  return is_less;
}

struct GroupSum {
  std::map<Currency, MonthlySaving> savings;
  std::vector<std::string> names;
  std::uint64_t node_hours = 0;
  bool is_estimate = false;
};

void add_saving(GroupSum& group, const std::map<Currency, Money>& costs,
                Money MonthlySaving::* which) {
  for (const auto& [currency, money] : costs) {
    const Money none = Money::zero(currency);
    MonthlySaving& sum =
        group.savings.try_emplace(currency, MonthlySaving{none, none, none}).first->second;
    sum.*which += money;
  }
}

std::string listed(std::vector<std::string> names) {
  const std::size_t more = names.size() > kNamesMax ? names.size() - kNamesMax : 0;
  names.resize(names.size() - more);
  std::string text = fmt::format("{}", fmt::join(names, " "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return text;
}

class ReleaseSearch {
 public:
  ReleaseSearch(const ClusterId& cluster, const FleetView& fleet, const FleetHours& hours,
                const NodeBill& bill, const Catalog& catalog, WorkManager manager)
      : cluster_(cluster),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        catalog_(catalog),
        manager_(manager) {}

  NodeReleases run() {
    NodeReleases releases;
    for (std::uint32_t node = 0; node < fleet_.nodes().size(); ++node) {
      if (is_there_now(node)) groups_there_.insert(group_of(node));
    }
    releases.kept.resize(fleet_.nodes().size(), HourFlags(hours_.hours(), true));
    add(kExpectedReserve, &MonthlySaving::expected, &releases.kept);
    add(kCautiousReserve, &MonthlySaving::low, nullptr);
    add(kNoReserve, &MonthlySaving::high, nullptr);
    for (const auto& [key, group] : groups_) {
      for (const auto& [currency, saving] : group.savings) {
        if (group.names.empty() || saving.expected.ticks() <= 0) continue;
        releases.proposals.push_back(proposal(key.first, key.second, group, saving));
      }
    }
    if (gone_ > 0) {
      releases.gaps.push_back(fmt::format(
          "{} that no hour, or hardly any, needed {} gone by the end of the period, and nothing is "
          "advised about {}",
          gone_ == 1 ? "a node" : fmt::format("{} nodes", gone_), gone_ == 1 ? "is" : "are",
          gone_ == 1 ? "it" : "them"));
    }
    return releases;
  }

 private:
  bool is_there_now(std::uint32_t node) const {
    return hours_.hours() > 0 && hours_.is_there(node, hours_.hours() - 1);
  }
  NodeGroup group_of(std::uint32_t node) const {
    const NodeShape shape = find_node_shape(fleet_.any_fact(node), catalog_);
    return {fleet_.any_fact(node).pool.text(), shape.instance_type, shape.region};
  }

  // With the expected reserve, which comes first, a node gets its kind: another reserve may free it
  // in more or fewer hours, and that is then the range of the same proposal.
  void add(const Reserve& reserve, Money MonthlySaving::* which, std::vector<HourFlags>* kept) {
    const std::vector<HourFlags> free = hours_.free_hours(bill_.by_cost(), reserve);
    for (const std::uint32_t node : bill_.by_cost()) {
      const HourFlags given_back = release_of(node, hours_, free[node]);
      const bool is_whole = given_back == free[node];
      if (!is_there_now(node) && (is_whole || !groups_there_.contains(group_of(node)))) {
        // It is gone, and nobody can give it back again.
        if (kept != nullptr && keep_less((*kept)[node], given_back)) ++gone_;
        continue;
      }
      const auto count = std::count(given_back.begin(), given_back.end(), true);
      if (count == 0) continue;
      const AdviceKind kind =
          kinds_.try_emplace(node, is_whole ? AdviceKind::kUnneededNodes : AdviceKind::kScaleDown)
              .first->second;
      GroupSum& sum = groups_[{group_of(node), kind}];
      add_saving(sum, bill_.cost_of(node, hours_, given_back), which);
      if (kept == nullptr) continue;
      sum.names.push_back(fleet_.any_fact(node).name.text());
      sum.node_hours += static_cast<std::uint64_t>(count);
      sum.is_estimate = sum.is_estimate || hours_.has_pooled(node);
      keep_less((*kept)[node], given_back);
    }
  }

  Proposal proposal(const NodeGroup& group, AdviceKind kind, const GroupSum& sum,
                    const MonthlySaving& saving) const {
    const std::string subject = subject_of(group);
    const std::size_t recorded = hours_.recorded_hours();
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, recorded);
    };
    const std::string key = fmt::format("{}\n{}", subject, saving.expected.currency().text());
    Proposal advice{.id = proposal_id(kind, cluster_, key),
                    .kind = kind,
                    .cluster = cluster_,
                    .subject = subject,
                    .change = {},
                    // Nodes are given back one after the other, so another reserve may free
                    // another node: a bound never lies on the wrong side.
                    .monthly = {std::min(monthly(saving.low), monthly(saving.expected), kLess),
                                monthly(saving.expected),
                                std::max(monthly(saving.high), monthly(saving.expected), kLess)},
                    .observed = saving.expected,
                    .moved = Money::zero(saving.expected.currency())};
    if (!group.instance_type.empty()) advice.looked_for = "type " + group.instance_type;
    advice.nodes = sum.names;
    const std::size_t nodes = sum.names.size();
    advice.evidence.push_back(
        fmt::format("{} of {} hours of the period are covered by the scheduler's records", recorded,
                    hours_.hours()));
    if (kind == AdviceKind::kUnneededNodes) {
      advice.change =
          fmt::format("Give back {} {} that no hour needed", nodes, nodes == 1 ? "node" : "nodes");
      advice.evidence.push_back(
          fmt::format("needed in none of their hours, {} node-hours in all", sum.node_hours));
      advice.apply = drain_text(manager_, sum.names);
    } else {
      advice.change = fmt::format(
          "Let {} {} go after an hour in which nobody held {}: {} node-hours in {} hours", nodes,
          nodes == 1 ? "node" : "nodes", nodes == 1 ? "it" : "them", sum.node_hours, recorded);
      advice.evidence.push_back(
          "stretches of at least two whole hours that nobody needed; the first hour of each is "
          "kept");
      advice.apply = scale_down_text(manager_, group.pool, listed(sum.names));
    }
    advice.evidence.push_back(
        "billed on demand or spot; what a commitment covers is not counted, since it is paid "
        "anyway");
    if (sum.is_estimate) {
      advice.evidence.push_back(
          "jobs here name a pool and no node: expected keeps 10 % more than they held at each "
          "hour's peak, low 25 % and a node to spare");
    }
    const bool is_long = recorded >= kLongRecordHours;
    advice.confidence = sum.is_estimate ? (is_long ? Confidence::kMedium : Confidence::kLow)
                                        : (is_long ? Confidence::kHigh : Confidence::kMedium);
    advice.confidence_reason =
        fmt::format("{} days of records; {}", recorded / 24,
                    sum.is_estimate ? "which node a job held is not known"
                                    : "every holding names its nodes or GPUs");
    advice.risk = kind == AdviceKind::kUnneededNodes
                      ? "A larger or later peak than in these records waits for capacity."
                      : "A job waits while a node starts, some minutes; and capacity of this type "
                        "may be gone when it is asked for again.";
    return advice;
  }

  const ClusterId& cluster_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const Catalog& catalog_;
  WorkManager manager_;
  std::map<std::uint32_t, AdviceKind> kinds_;  // by node
  std::set<NodeGroup> groups_there_;           // of which nodes are there at the period's end
  std::size_t gone_ = 0;                       // nodes that could have been given back, and were
  std::map<std::pair<NodeGroup, AdviceKind>, GroupSum> groups_;
};

}  // namespace

NodeReleases propose_node_releases(const ClusterId& cluster, const FleetView& fleet,
                                   const FleetHours& hours, const NodeBill& bill,
                                   const Catalog& catalog, WorkManager manager) {
  return ReleaseSearch(cluster, fleet, hours, bill, catalog, manager).run();
}

}  // namespace pennyweight::advising
