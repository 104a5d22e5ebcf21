#include "insight/advice/spot.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "core/ascii.h"
#include "core/whole_count.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/formulas/measured_spot.h"
#include "insight/advice/right_size.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint64_t kMinuteMs = 60'000;
constexpr std::uint64_t kSpotSaveMs = 2 * kMinuteMs;
constexpr std::uint64_t kSpotRestartMs = 5 * kMinuteMs;
constexpr std::uint64_t kAssumedBetweenMs = 120 * kMinuteMs;
constexpr std::uint64_t kMeasuredInterruptionsMin = 5;
// A holding that ends within so long of its node was interrupted with it.
constexpr std::chrono::minutes kEndsWithNode{2};
constexpr std::uint64_t kLimitMinutesMax = 100'000'000;
constexpr std::int64_t kMicroTicks = Money::kTicksPerUnit / 1'000'000;

bool says_checkpointable(const Holding& holding) {
  for (const std::string_view key : {"checkpointable", "checkpoint"}) {
    const auto value = holding.labels.find(key);
    if (!value) continue;
    const std::string word = ascii::lower_case(*value);
    if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  }
  return false;
}

std::string tenths_text(std::uint64_t ppm) {
  const std::uint64_t tenths = (ppm + 500) / 1000;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

// What the records say of one piece of work.
struct SpotRuns {
  bool is_checkpointable = true;
  WorkManager manager = WorkManager::kUnknown;
  std::set<WorkloadId> runs;
  std::uint64_t nodes = 1;  // the most of one run
  std::uint64_t longest_ms = 0;
  std::optional<std::uint64_t> limit_ms;  // the shortest time limit
};

// How often the cluster's own spot nodes are taken back.
struct SpotRecord {
  std::uint64_t between_ms = kAssumedBetweenMs;
  std::uint64_t interruptions = 0;
  bool is_measured = false;
};

class SpotSearch {
 public:
  SpotSearch(const ClusterMonth& month, const ActivityProfiles& profiles,
             const std::map<std::string, WorkOnNodes>& works, const FleetView& fleet,
             const FleetHours& hours, const NodeBill& bill,
             const std::map<std::uint32_t, HourFlags>& released, Instant prices_at,
             WorkManager configured)
      : month_(month),
        profiles_(profiles),
        works_(works),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        released_(released),
        prices_at_(prices_at),
        configured_(configured) {}

  SpotAdvice run() {
    const std::map<std::string, SpotRuns> runs = find_runs();
    if (std::ranges::none_of(runs, [](const auto& each) { return each.second.is_checkpointable; }))
      return {};
    record_ = measure_interruptions();
    for (const auto& [work, of] : runs) {
      if (of.is_checkpointable) consider(work, of);
    }
    return {std::move(proposals_), {gaps_.begin(), gaps_.end()}};
  }

 private:
  std::map<std::string, SpotRuns> find_runs() const {
    std::map<std::string, SpotRuns> all;
    for (const Holding& holding : month_.holdings) {
      SpotRuns& of = all[work_of(holding)];
      of.is_checkpointable = of.is_checkpointable && says_checkpointable(holding);
      if (of.runs.empty()) of.manager = work_manager_of(holding, configured_);
      of.runs.insert(holding.workload);
      of.longest_ms = std::max(of.longest_ms, holding.held.length_ms());
      if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
        of.nodes = std::max<std::uint64_t>(of.nodes, on_nodes->parts.size());
      } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
        std::set<std::uint32_t> nodes;
        for (const GpuId& gpu : on_gpus->gpus) {
          if (const auto node = fleet_.node_of_gpu(gpu)) nodes.insert(*node);
        }
        of.nodes = std::max<std::uint64_t>(of.nodes, nodes.size());
      }
      const auto limit = holding.labels.find("time_limit_minutes");
      if (!limit) continue;
      if (const auto minutes = parse_count(*limit, kLimitMinutesMax)) {
        const std::uint64_t ms = *minutes * kMinuteMs;
        of.limit_ms = std::min(of.limit_ms.value_or(ms), ms);
      }
    }
    return all;
  }

  SpotRecord measure_interruptions() const {
    SpotRecord record;
    std::uint64_t there_ms = 0;
    std::map<std::uint32_t, std::vector<Instant>> gone;  // by node
    for (std::uint32_t node = 0; node < fleet_.nodes().size(); ++node) {
      const auto& lines = bill_.avoidable(node);
      const bool is_spot = !lines.empty() && std::ranges::all_of(lines, [](const NodeLine& line) {
        return line.charge->pricing_category == PricingCategory::kDynamic;
      });
      if (!is_spot) continue;
      const auto& facts = fleet_.nodes()[node].facts;
      const Instant end = hours_.hour(hours_.hours() - 1).end();
      for (std::size_t i = 0; i < facts.size(); ++i) {
        const Node& fact = *facts[i];
        const bool has_next = i + 1 < facts.size();
        // As in the allocation, the next fact of a name ends the one before.
        Instant until = fact.to.value_or(end);
        if (has_next) until = std::min(until, facts[i + 1]->from);
        const Instant begin = std::max(fact.from, hours_.hour(0).begin());
        if (const auto there = Interval::of(begin, std::min(until, end))) {
          there_ms += there->length_ms();
        }
        const bool goes_on = has_next && fact.to && facts[i + 1]->from <= *fact.to;
        if (fact.to && *fact.to < end && !goes_on) gone[node].push_back(*fact.to);
      }
    }
    if (there_ms == 0) return record;
    for (const Holding& holding : month_.holdings) {
      const auto* on_nodes = std::get_if<OnNodes>(&holding.placement);
      if (on_nodes == nullptr) continue;
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        const auto node = fleet_.node_of(part.node);
        const auto ends = node ? gone.find(*node) : gone.end();
        if (ends == gone.end()) continue;
        const auto with_node = std::ranges::find_if(ends->second, [&](Instant at) {
          return holding.held.begin() < at && at - kEndsWithNode <= holding.held.end() &&
                 holding.held.end() <= at + kEndsWithNode;
        });
        if (with_node == ends->second.end()) continue;
        ++record.interruptions;
        ends->second.erase(with_node);  // once, whoever was on it
      }
    }
    if (record.interruptions < kMeasuredInterruptionsMin) return record;
    record.is_measured = true;
    record.between_ms = there_ms / record.interruptions;
    return record;
  }

  struct Bought {
    std::string type;
    std::string region;
    auto operator<=>(const Bought&) const = default;
  };

  void consider(const std::string& work, const SpotRuns& runs) {
    const auto on_nodes = works_.find(work);
    if (on_nodes == works_.end() || runs.longest_ms == 0) return;
    std::map<Bought, std::map<Currency, Money>> paid;
    for (const auto& [node, alone] : on_nodes->second.alone) {
      if (bill_.is_committed(node)) continue;
      HourFlags counted = alone;
      const auto gone = released_.find(node);
      for (std::size_t hour = 0; gone != released_.end() && hour < counted.size(); ++hour) {
        counted[hour] = counted[hour] && !gone->second[hour];
      }
      const Node& fact = fleet_.any_fact(node);
      auto& sums = paid[{fact.instance_type, fact.region}];
      for (const auto& [currency, money] : bill_.on_demand_cost_of(node, hours_, counted)) {
        sums.try_emplace(currency, Money::zero(currency)).first->second += money;
      }
    }
    for (const auto& [bought, sums] : paid) {
      for (const auto& [currency, money] : sums) {
        if (money.ticks() > 0) propose(work, runs, bought, money);
      }
    }
  }

  std::optional<Rate> rate(const Bought& bought, PurchaseOption option) const {
    auto found = month_.catalog.find_rate({.instance_type = bought.type,
                                           .region = bought.region,
                                           .option = option,
                                           .at = prices_at_});
    if (!found || found->per_hour.ticks() <= 0) return std::nullopt;
    return *found;
  }

  static MeasuredSpot judge(const SpotRuns& runs, const Rate& on_demand, const Rate& spot,
                            std::uint64_t between_ms) {
    // Without a time limit it may take twice as long.
    const std::uint64_t slack = runs.limit_ms
                                    ? *runs.limit_ms - std::min(*runs.limit_ms, runs.longest_ms)
                                    : runs.longest_ms;
    const auto micros = [](const Rate& of) {
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(of.per_hour.ticks()) /
                                            static_cast<std::uint64_t>(kMicroTicks));
    };
    return judge_measured_spot({.mean_time_between_ms = between_ms,
                                .nodes = runs.nodes,
                                .save_ms = kSpotSaveMs,
                                .restart_ms = kSpotRestartMs,
                                .length_ms = runs.longest_ms,
                                .slack_ms = slack,
                                .on_demand_micros = micros(on_demand),
                                .spot_micros = micros(spot)});
  }

  void propose(const std::string& work, const SpotRuns& runs, const Bought& bought,
               const Money& paid) {
    const auto on_demand = rate(bought, PurchaseOption::kOnDemand);
    const auto spot = rate(bought, PurchaseOption::kSpot);
    if (!on_demand || !spot || on_demand->currency != spot->currency) {
      gaps_.insert(fmt::format(
          "work that can be interrupted runs on {} in {}, of which no spot price is known: give it "
          "in the file of prices (catalog)",
          bought.type.empty() ? "an instance type that is not known" : bought.type,
          bought.region.empty() ? "any region" : bought.region));
      return;
    }
    const MeasuredSpot verdict = judge(runs, *on_demand, *spot, record_.between_ms);
    if (!verdict.pays || verdict.relative_cost_ppm >= 1'000'000) return;
    const auto saved_at = [&](std::uint64_t relative_ppm) {
      return relative_ppm >= 1'000'000 ? Money::zero(paid.currency())
                                       : scaled(paid, 1'000'000 - relative_ppm, 1'000'000);
    };
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    const Money saved = saved_at(verdict.relative_cost_ppm);
    // Interrupted twice as often, and never.
    const MeasuredSpot worse = judge(runs, *on_demand, *spot, record_.between_ms / 2);
    const Money low = saved_at(worse.relative_cost_ppm);
    const Money high =
        std::max(saved_at(1'000'000 - verdict.discount_ppm), saved,
                 [](const Money& a, const Money& b) { return a.ticks() < b.ticks(); });
    const std::string region = bought.region.empty() ? "any region" : bought.region;
    Proposal advice{
        .id = proposal_id(AdviceKind::kSpot, month_.cluster,
                          fmt::format("{}\n{}\n{}\n{}", work, bought.type, bought.region,
                                      paid.currency().text())),
        .kind = AdviceKind::kSpot,
        .cluster = month_.cluster,
        .subject = fmt::format("work {} on {}, {}", work, bought.type, region),
        .change = fmt::format("Run it on spot capacity, and save it every {} minutes of work",
                              std::max<std::uint64_t>(1, verdict.interval_ms / kMinuteMs)),
        .monthly = {monthly(low), monthly(saved), monthly(high)},
        .observed = saved,
        .moved = Money::zero(paid.currency()),
        .basis = SavingBasis::kListPrice};
    advice.evidence = {
        fmt::format("its {} {} say checkpointable; {} {} of on-demand nodes that it had to itself",
                    runs.runs.size(), runs.runs.size() == 1 ? "run" : "runs",
                    to_text(paid.amount()), paid.currency().text()),
        fmt::format("list prices: {} on demand, {} on spot, {} less", to_text(on_demand->per_hour),
                    to_text(spot->per_hour), tenths_text(verdict.discount_ppm)),
        fmt::format("interruptions: {}, with up to {} {} a run",
                    record_.is_measured
                        ? std::string("as often as the cluster's own spot nodes have them")
                        : std::string("not measured here, so one in 2 hours of a node is assumed"),
                    runs.nodes, runs.nodes == 1 ? "node" : "nodes"),
        fmt::format("with saves of 2 and restarts of 5 minutes, {} of its time is paid; spot pays "
                    "from {} less, and 10 points more are asked for",
                    tenths_text(verdict.paid_ppm), tenths_text(verdict.break_even_ppm))};
    advice.confidence = record_.is_measured ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason =
        record_.is_measured
            ? "interruptions are those of the cluster's own spot nodes"
            : "how often spot nodes of this type are taken back is not measured here";
    advice.risk = fmt::format(
        "It takes {} of the time, and longer where there is no spot capacity; work since the last "
        "save is lost at each interruption.",
        tenths_text(verdict.paid_ppm));
    const InstanceType* type = month_.catalog.find_instance_type(bought.type);
    advice.apply =
        spot_text({.manager = runs.manager,
                   .work = work,
                   .provider = type == nullptr ? std::string() : type->provider,
                   .instance_type = bought.type,
                   .save_minutes = std::max<std::uint64_t>(1, verdict.interval_ms / kMinuteMs)});
    advice.owner = profiles_.owner_of_work(work);
    advice.looked_for = fmt::format("work {}", work);
    advice.workload = runs.runs.size() == 1 ? *runs.runs.begin() : WorkloadId("(several)");
    advice.alternatives_of = spot_set(month_.cluster, work, bought.type, bought.region);
    for (const auto& [key, profile] : profiles_.profiles()) {
      if (key.first != work) continue;
      advice.conflicts_with.push_back(right_size_set(month_.cluster, work, key.second));
    }
    advice.conflicts_with.push_back(fmt::format("commitment\n{}\n{}, {}\n{}", month_.cluster.text(),
                                                bought.type, region, paid.currency().text()));
    proposals_.push_back(std::move(advice));
  }

  const ClusterMonth& month_;
  const ActivityProfiles& profiles_;
  const std::map<std::string, WorkOnNodes>& works_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const std::map<std::uint32_t, HourFlags>& released_;
  Instant prices_at_;
  WorkManager configured_;
  SpotRecord record_;
  std::vector<Proposal> proposals_;
  std::set<std::string> gaps_;
};

}  // namespace

std::string spot_set(const ClusterId& cluster, std::string_view work, std::string_view type,
                     std::string_view region) {
  return fmt::format("spot\n{}\n{}\n{}\n{}", cluster.text(), work, type, region);
}

SpotAdvice propose_spot(const ClusterMonth& month, const ActivityProfiles& profiles,
                        const std::map<std::string, WorkOnNodes>& works, const FleetView& fleet,
                        const FleetHours& hours, const NodeBill& bill,
                        const std::map<std::uint32_t, HourFlags>& released, Instant prices_at,
                        WorkManager configured) {
  if (hours.hours() == 0) return {};
  return SpotSearch(month, profiles, works, fleet, hours, bill, released, prices_at, configured)
      .run();
}

}  // namespace pennyweight::advising
