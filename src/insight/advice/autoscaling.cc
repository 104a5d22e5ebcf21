#include "insight/advice/autoscaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "insight/advice/apply_text.h"
#include "insight/advice/right_size.h"
#include "insight/advice/spot.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint64_t kScaledHourMs = 3'600'000;
constexpr std::uint64_t kWholeGpuHourPpmMs = kScaledHourMs * 1'000'000;
constexpr std::size_t kScaledDaysMin = 7;
constexpr std::size_t kScaledDaysLong = 14;

// How busy replicas may be, and how many more are kept.
struct Slack {
  std::uint64_t percent;
  std::uint64_t spare;
  std::size_t hours_around;  // whose demand counts as well, since new replicas take time
};
constexpr Slack kExpectedSlack{.percent = 60, .spare = 0, .hours_around = 1};
constexpr Slack kCautiousSlack{.percent = 50, .spare = 1, .hours_around = 2};
constexpr Slack kLittleSlack{.percent = 80, .spare = 0, .hours_around = 0};

struct Replicas {
  std::set<WorkloadId> runs;
  std::optional<std::uint64_t> gpus;    // of each; absent: they differ, or are not whole GPUs
  std::vector<std::uint64_t> gpu_time;  // ms held, by hour
};

class AutoscalingSearch {
 public:
  AutoscalingSearch(const ClusterMonth& month, const ActivityProfiles& profiles,
                    const std::map<std::string, WorkOnNodes>& works, const FleetView& fleet,
                    const FleetHours& hours, const NodeBill& bill,
                    const std::map<std::uint32_t, HourFlags>& released)
      : month_(month),
        profiles_(profiles),
        works_(works),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        released_(released) {}

  std::vector<Proposal> run() {
    const std::map<std::string, Replicas> all = find_replicas();
    for (const auto& [work, served] : profiles_.served()) {
      const auto replicas = all.find(work);
      const auto on = works_.find(work);
      if (replicas == all.end() || !replicas->second.gpus || on == works_.end()) continue;
      if (on->second.manager == WorkManager::kSlurm) continue;  // its jobs have no replicas
      consider(work, served, replicas->second, on->second);
    }
    return std::move(proposals_);
  }

 private:
  std::map<std::string, Replicas> find_replicas() const {
    std::map<std::string, Replicas> all;
    for (const Holding& holding : month_.holdings) {
      const std::string work = work_of(holding);
      if (!profiles_.served().contains(work)) continue;
      const auto [at, is_first] = all.try_emplace(work);
      Replicas& of = at->second;
      if (is_first) of.gpu_time.resize(hours_.hours());
      of.runs.insert(holding.workload);
      const std::uint64_t gpus = device_count(holding);
      const auto* on_nodes = std::get_if<OnNodes>(&holding.placement);
      const bool is_one_node = on_nodes == nullptr ? gpus == 1 : on_nodes->parts.size() == 1;
      const bool is_whole = std::holds_alternative<WholeGpu>(holding.device) && is_one_node;
      if (is_first && is_whole && gpus > 0) of.gpus = gpus;
      if (of.gpus != gpus || !is_whole) of.gpus.reset();
      for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
        const Interval each = hours_.hour(hour);
        if (each.begin() >= holding.held.end()) break;
        if (const auto both = each.overlap(holding.held)) {
          of.gpu_time[hour] += both->length_ms() * gpus;
        }
      }
    }
    return all;
  }

  // How many replicas each hour needs; nothing where not enough of it was measured.
  std::vector<std::optional<std::uint64_t>> needed(
      const std::vector<ActivityProfiles::ServedHour>& served, const Replicas& replicas,
      const Slack& slack) const {
    std::vector<std::optional<std::uint64_t>> by_hour(hours_.hours());
    for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
      const std::size_t first = hour - std::min(hour, slack.hours_around);
      const std::size_t last = std::min(hours_.hours() - 1, hour + slack.hours_around);
      UInt128 busy = 0;
      bool is_seen = true;
      for (std::size_t near = first; near <= last; ++near) {
        busy = std::max(busy, served[near].ppm_ms);
        is_seen = is_seen && served[near].ms * 10 >= replicas.gpu_time[near] * 9;
      }
      if (!is_seen) continue;
      const UInt128 each = UInt128{kWholeGpuHourPpmMs} * *replicas.gpus * slack.percent / 100;
      const auto count = static_cast<std::uint64_t>((busy + each - 1) / each);
      by_hour[hour] = std::max<std::uint64_t>(1, count) + slack.spare;
    }
    return by_hour;
  }

  // The hours in which nodes go, beyond those that the needed replicas take.
  std::map<std::uint32_t, HourFlags> freed(
      const std::vector<std::uint32_t>& nodes, const WorkOnNodes& on, std::uint64_t each,
      const std::vector<std::optional<std::uint64_t>>& needed_replicas) const {
    std::map<std::uint32_t, HourFlags> gone;
    for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
      if (!needed_replicas[hour]) continue;
      const std::uint64_t kept = (*needed_replicas[hour] + each - 1) / each;
      std::uint64_t there = 0;
      for (const std::uint32_t node : nodes) {
        if (!on.alone.at(node)[hour] || ++there <= kept) continue;
        gone.try_emplace(node, HourFlags(hours_.hours(), false)).first->second[hour] = true;
      }
    }
    for (auto& [node, flags] : gone) {
      const HourFlags all = flags;
      const auto others = released_.find(node);
      for (std::size_t hour = 0; hour < flags.size(); ++hour) {
        flags[hour] = all[hour] && hour > 0 && all[hour - 1] &&
                      (others == released_.end() || !others->second[hour]);
      }
    }
    return gone;
  }

  std::map<Currency, Money> cost_of(const std::map<std::uint32_t, HourFlags>& gone) const {
    std::map<Currency, Money> sums;
    for (const auto& [node, flags] : gone) {
      for (const auto& [currency, money] : bill_.cost_of(node, hours_, flags)) {
        sums.try_emplace(currency, Money::zero(currency)).first->second += money;
      }
    }
    return sums;
  }

  void consider(const std::string& work, const std::vector<ActivityProfiles::ServedHour>& served,
                const Replicas& replicas, const WorkOnNodes& on) {
    std::vector<std::uint32_t> nodes;
    std::set<std::pair<std::string, std::string>> bought;
    for (const auto& [node, alone] : on.alone) {
      if (bill_.is_committed(node) || bill_.avoidable(node).empty()) continue;
      nodes.push_back(node);
      bought.emplace(fleet_.any_fact(node).instance_type, fleet_.any_fact(node).region);
    }
    if (nodes.size() < 2) return;
    const std::uint64_t gpus = fleet_.nodes()[nodes.front()].capacity.gpus;
    const bool are_alike = std::ranges::all_of(
        nodes, [&](std::uint32_t node) { return fleet_.nodes()[node].capacity.gpus == gpus; });
    if (!are_alike || gpus % *replicas.gpus != 0) return;
    std::set<std::int64_t> days;
    std::uint64_t hours_with_two = 0;
    std::uint64_t replicas_max = 0;
    for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
      if (served[hour].ms == 0) continue;
      days.insert(static_cast<std::int64_t>(hour / 24));
      const std::uint64_t there = replicas.gpu_time[hour] / kScaledHourMs / *replicas.gpus;
      hours_with_two += there >= 2 ? 1 : 0;
      replicas_max = std::max(replicas_max, there);
    }
    if (days.size() < kScaledDaysMin || hours_with_two * 2 < days.size() * 24) return;
    // Those that it had longest to itself stay.
    std::ranges::stable_sort(nodes, std::greater<>(), [&](std::uint32_t node) {
      return std::ranges::count(on.alone.at(node), true);
    });
    const std::uint64_t each = gpus / *replicas.gpus;
    const auto expected_need = needed(served, replicas, kExpectedSlack);
    const auto gone = freed(nodes, on, each, expected_need);
    const auto saved = cost_of(gone);
    const auto low = cost_of(freed(nodes, on, each, needed(served, replicas, kCautiousSlack)));
    const auto high = cost_of(freed(nodes, on, each, needed(served, replicas, kLittleSlack)));
    std::uint64_t node_hours = 0;
    for (const auto& [node, flags] : gone) {
      node_hours += static_cast<std::uint64_t>(std::ranges::count(flags, true));
    }
    for (const auto& [currency, money] : saved) {
      if (money.ticks() <= 0) continue;
      const auto amount = [&](const std::map<Currency, Money>& sums) {
        const auto at = sums.find(currency);
        return at == sums.end() ? Money::zero(currency) : at->second;
      };
      const auto less = [](const Money& a, const Money& b) { return a.ticks() < b.ticks(); };
      propose(work, replicas, bought, expected_need, replicas_max, node_hours, days.size(),
              {std::min(amount(low), money, less), money, std::max(amount(high), money, less)});
    }
  }

  void propose(const std::string& work, const Replicas& replicas,
               const std::set<std::pair<std::string, std::string>>& bought,
               const std::vector<std::optional<std::uint64_t>>& needed_replicas,
               std::uint64_t replicas_max, std::uint64_t node_hours, std::size_t days,
               const MonthlySaving& observed) {
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    std::uint64_t least = replicas_max;
    std::uint64_t most = 1;
    for (const auto& count : needed_replicas) {
      if (!count) continue;
      least = std::min(least, *count);
      most = std::max(most, *count);
    }
    most = std::max({most, least, replicas_max});
    const Currency currency = observed.expected.currency();
    Proposal advice{
        .id = proposal_id(AdviceKind::kAutoscaling, month_.cluster,
                          fmt::format("{}\n{}", work, currency.text())),
        .kind = AdviceKind::kAutoscaling,
        .cluster = month_.cluster,
        .subject = fmt::format("work {}", work),
        .change = fmt::format("Let its replicas follow the demand, from {} to {}", least, most),
        .monthly = {monthly(observed.low), monthly(observed.expected), monthly(observed.high)},
        .observed = observed.expected,
        .moved = Money::zero(currency)};
    advice.evidence = {
        fmt::format("up to {} replicas of {} {} each; {} node-hours that it had to itself held "
                    "more than the hour needed",
                    replicas_max, *replicas.gpus, *replicas.gpus == 1 ? "GPU" : "GPUs", node_hours),
        fmt::format("needed: so many that their GPUs are busy {} % of the hour before, of this and "
                    "of the next at most; the first hour of each stretch is kept",
                    kExpectedSlack.percent),
        "low: 50 %, one replica more, and two hours around; high: 80 % of this hour",
        "hours that telemetry saw less than nine tenths of need all replicas that they had"};
    advice.confidence = days >= kScaledDaysLong ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason =
        fmt::format("{} days of telemetry; requests and their latency are not known", days);
    advice.risk =
        "Requests wait while a replica starts and loads its model, and shorter peaks than an hour "
        "don't show here.";
    advice.apply = autoscaler_text(work, least, most, kExpectedSlack.percent);
    advice.owner = profiles_.owner_of_work(work);
    advice.looked_for = fmt::format("work {}", work);
    advice.workload = replicas.runs.size() == 1 ? *replicas.runs.begin() : WorkloadId("(several)");
    advice.alternatives_of = autoscaling_set(month_.cluster, work);
    for (const auto& [key, profile] : profiles_.profiles()) {
      if (key.first != work) continue;
      advice.conflicts_with.push_back(right_size_set(month_.cluster, work, key.second));
    }
    for (const auto& [type, region] : bought) {
      advice.conflicts_with.push_back(spot_set(month_.cluster, work, type, region));
      advice.conflicts_with.push_back(
          fmt::format("commitment\n{}\n{}, {}\n{}", month_.cluster.text(), type,
                      region.empty() ? "any region" : region, currency.text()));
    }
    proposals_.push_back(std::move(advice));
  }

  const ClusterMonth& month_;
  const ActivityProfiles& profiles_;
  const std::map<std::string, WorkOnNodes>& works_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const std::map<std::uint32_t, HourFlags>& released_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::string autoscaling_set(const ClusterId& cluster, std::string_view work) {
  return fmt::format("autoscaling\n{}\n{}", cluster.text(), work);
}

std::vector<Proposal> propose_autoscaling(const ClusterMonth& month,
                                          const ActivityProfiles& profiles,
                                          const std::map<std::string, WorkOnNodes>& works,
                                          const FleetView& fleet, const FleetHours& hours,
                                          const NodeBill& bill,
                                          const std::map<std::uint32_t, HourFlags>& released) {
  if (hours.hours() == 0) return {};
  return AutoscalingSearch(month, profiles, works, fleet, hours, bill, released).run();
}

}  // namespace pennyweight::advising
