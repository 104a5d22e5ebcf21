#include "app/daemon/live_costing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/queries/telemetry_source.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// The window over which the cost of an hour is averaged.
constexpr milliseconds kWindow{5 * 60'000};
// A holding that was read longer ago may have ended since.
constexpr milliseconds kTrust{3 * 60'000};
// Between two allocations of today, so many times as long as one takes.
constexpr int kTodayPause = 10;

// Adds the GPUs that telemetry shows and the ledger does not have yet: the engine writes a GPU only
// after some minutes, and a node that has just come up is shown before that.
void add_unwritten_gpus(const std::vector<Usage>& usages, std::vector<Gpu>& gpus) {
  std::set<GpuId> known;
  for (const Gpu& gpu : gpus) known.insert(gpu.uuid);
  std::map<GpuId, Gpu> fresh;
  for (const Usage& usage : usages) {
    if (usage.gpu.empty() || usage.node.empty() || !usage.mig_instance.empty()) continue;
    if (known.contains(usage.gpu)) continue;
    const auto [at, is_new] = fresh.try_emplace(usage.gpu, Gpu{.cluster = usage.cluster,
                                                               .node = usage.node,
                                                               .uuid = usage.gpu,
                                                               .index = 0,
                                                               .model = usage.model,
                                                               .memory_bytes = {},
                                                               .mig_instances = {},
                                                               .from = usage.at,
                                                               .to = {},
                                                               .id = {},
                                                               .source = {}});
    at->second.from = std::min(at->second.from, usage.at);
  }
  for (auto& [uuid, gpu] : fresh) gpus.push_back(std::move(gpu));
}

// Lets every GPU begin by `begin`. It was in its node before it was first seen, and workloads are
// matched to the GPUs that are there for the whole window.
void extend_back(std::vector<Gpu>& gpus, Instant begin) {
  std::map<GpuId, Gpu*> first;
  for (Gpu& gpu : gpus) {
    Gpu*& known = first[gpu.uuid];
    if (known == nullptr || gpu.from < known->from) known = &gpu;
  }
  for (const auto& [uuid, gpu] : first) gpu->from = std::min(gpu->from, begin);
}

std::vector<Interval> local_days(Instant begin, Instant end, const TimeZone& zone) {
  const auto whole = Interval::of(begin, end);
  return whole ? cut_by_day(*whole, zone) : std::vector<Interval>();
}

void add_cost(EarlierCosts& costs, const WorkloadId& workload, const Labels& dimensions,
              const Money& cost) {
  const auto [at, is_new] = costs.try_emplace(workload, EarlierCost{dimensions, cost});
  if (!is_new && at->second.cost.currency() == cost.currency()) at->second.cost += cost;
}

}  // namespace

Result<LiveCosts> LiveCosting::allocate_recent(const ClusterId& cluster,
                                               const Interval& window) const {
  // A span that began before the window may reach into it.
  const Instant since = window.begin() - milliseconds(config_.policy.usage.shift_ms) -
                        milliseconds(config_.live.serve.resolution_ms);
  const std::vector<Usage> usages = engine_->recent(cluster, since);
  std::vector<Gpu> gpus = inventory_.gpus(cluster);
  add_unwritten_gpus(usages, gpus);
  extend_back(gpus, window.begin());
  // It is only asked during this call, so it refers to the usages: a copy of it is made more than
  // once on the way.
  UtilizationSource utilization = [&](const Interval& during) {
    return to_intervals(usages, gpus, config_.policy.usage, during);
  };
  return allocate_window(cluster, window, gpus, inventory_.holdings(cluster, window, kTrust),
                         std::move(utilization), true);
}

Result<LiveCosts> LiveCosting::allocate_window(const ClusterId& cluster, const Interval& window,
                                               const std::vector<Gpu>& gpus,
                                               UtilizationSource utilization) const {
  return allocate_window(cluster, window, gpus, inventory_.holdings(cluster, window, kTrust),
                         std::move(utilization), false);
}

Result<LiveCosts> LiveCosting::allocate_window(const ClusterId& cluster, const Interval& window,
                                               const std::vector<Gpu>& gpus,
                                               const std::vector<Holding>& holdings,
                                               UtilizationSource utilization, bool by_place) const {
  const std::vector<Node> nodes = inventory_.nodes(cluster);
  return live_costs({.cluster = cluster,
                     .window = window,
                     .nodes = nodes,
                     .gpus = gpus,
                     .holdings = holdings,
                     .outages = {},
                     .policy = config_.policy,
                     .catalog = catalog_,
                     .card = card_,
                     .organisation = config_.organisation,
                     .utilization = std::move(utilization),
                     .by_place = by_place});
}

void LiveCosting::allocate_today(Store& store, Instant now, std::optional<Instant> settled_until) {
  const milliseconds between = std::max<milliseconds>(milliseconds(config_.live.serve.allocate_ms),
                                                      kTodayPause * today_took_);
  const TimeZone& zone = config_.policy.time_zone;
  const Instant midnight = start_of_day(now, zone);
  const bool is_due = now < today_allocated_at_ || now - today_allocated_at_ >= between;
  if (!is_due && midnight == today_begin_) return;
  if (midnight != today_begin_) today_.clear();
  today_begin_ = midnight;
  unsettled_.clear();
  const Instant month = start_of_month(midnight, zone);
  const Instant unsettled = std::max(settled_until.value_or(midnight), month);
  for (const ClusterId& cluster : inventory_.clusters()) {
    const std::vector<Gpu> gpus = inventory_.gpus(cluster);
    const auto allocate_part = [&](const Interval& window) {
      auto costs = allocate_window(cluster, window, gpus,
                                   telemetry_source(store, cluster, gpus, config_.policy.usage));
      if (!costs) counters_.add_failure("allocate today", costs.error());
      return costs;
    };
    if (const auto today = Interval::of(midnight, now)) {
      if (auto costs = allocate_part(*today)) today_.insert_or_assign(cluster, *std::move(costs));
    }
    for (const Interval& day : local_days(unsettled, midnight, zone)) {
      const auto costs = allocate_part(day);
      if (!costs) continue;
      for (const LiveShare& share : costs->shares) {
        if (share.cost)
          add_cost(unsettled_[cluster], share.workload, share.dimensions, *share.cost);
      }
    }
  }
  combine_earlier();
  today_allocated_at_ = now;
  today_took_ = std::max(milliseconds(0), clock_.now() - now);
}

bool LiveCosting::is_earlier_outdated(Instant now) const {
  return earlier_before_ != start_of_day(now, config_.policy.time_zone);
}

Result<void> LiveCosting::read_earlier_costs(Store& store, Instant now) {
  const TimeZone& zone = config_.policy.time_zone;
  const Instant midnight = start_of_day(now, zone);
  const auto local_day = [&](Instant at) {
    return std::chrono::floor<std::chrono::days>(*parse_instant(local_date(at, zone)));
  };
  std::vector<std::string> group_by = {"cluster", "workload"};
  for (const DimensionRule& rule : config_.policy.dimensions) group_by.push_back(rule.dimension);
  std::map<ClusterId, EarlierCosts> in_ledger;
  if (start_of_month(midnight, zone) < midnight) {
    const auto rows = TRY(store.summarise(
        {.first_day = local_day(start_of_month(midnight, zone)),
         .last_day = local_day(midnight) - std::chrono::days(1),
         .group_by = group_by,
         .filters = {{"cluster", {""}, true},
                     {"kind", {std::string(to_text(PostingKind::kShared))}, true}}}));
    for (const SummaryRow& row : rows) {
      Labels dimensions;
      for (std::size_t i = 2; i < row.keys.size(); ++i) {
        if (!row.keys[i].empty()) TRY(dimensions.set(group_by[i], row.keys[i]));
      }
      add_cost(in_ledger[ClusterId(row.keys[0])], WorkloadId(row.keys[1]), dimensions,
               row.costs.effective);
    }
  }
  in_ledger_ = std::move(in_ledger);
  earlier_before_ = midnight;
  combine_earlier();
  return {};
}

void LiveCosting::combine_earlier() {
  std::map<ClusterId, EarlierCosts> all = in_ledger_;
  for (const auto& [cluster, costs] : unsettled_) {
    for (const auto& [workload, earlier] : costs) {
      add_cost(all[cluster], workload, earlier.dimensions, earlier.cost);
    }
  }
  earlier_.clear();
  for (auto& [cluster, costs] : all) {
    earlier_[cluster] = std::make_shared<const EarlierCosts>(std::move(costs));
  }
}

std::vector<std::optional<Money>> LiveCosting::cost_of(std::span<const UnknownEnd> ends) const {
  std::vector<std::optional<Money>> costs(ends.size());
  std::map<ClusterId, std::vector<std::size_t>> by_cluster;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    by_cluster[ends[i].holding.cluster].push_back(i);
  }
  for (const auto& [cluster, numbers] : by_cluster) {
    Instant begin = kInstantMax, end = kInstantMin;
    for (const std::size_t i : numbers) {
      begin = std::min(begin, ends[i].holding.held.end());
      end = std::max(end, ends[i].gone_by);
    }
    const std::vector<Gpu> gpus = inventory_.gpus(cluster);
    std::set<std::size_t> unpriced;
    for (const Interval& day : local_days(begin, end, config_.policy.time_zone)) {
      // Each under a name of its own: another run of the same workload may have followed.
      std::vector<Holding> holdings = inventory_.holdings(cluster, day, kTrust);
      std::map<WorkloadId, std::size_t> by_name;
      for (const std::size_t i : numbers) {
        const auto lost = Interval::of(ends[i].holding.held.end(), ends[i].gone_by);
        if (!lost || !lost->overlap(day)) continue;
        Holding& holding = holdings.emplace_back(ends[i].holding);
        holding.held = *lost;
        holding.workload = WorkloadId(fmt::format("end {}", i));
        by_name.emplace(holding.workload, i);
      }
      const auto allocated = allocate_window(cluster, day, gpus, holdings, {}, false);
      if (!allocated) continue;
      for (const LiveShare& share : allocated->shares) {
        const auto found = by_name.find(share.workload);
        if (found == by_name.end()) continue;
        std::optional<Money>& cost = costs[found->second];
        if (!share.cost || share.is_partly_priced) unpriced.insert(found->second);
        if (share.cost) cost = cost ? *cost + *share.cost : *share.cost;
      }
    }
    for (const std::size_t i : unpriced) costs[i].reset();
  }
  return costs;
}

std::shared_ptr<const LiveView> LiveCosting::make_view(Instant now) {
  const TimeZone& zone = config_.policy.time_zone;
  const auto window = Interval::of(std::max(now - kWindow, start_of_day(now, zone)), now);
  if (!window) return nullptr;
  auto view = std::make_shared<LiveView>();
  view->at = now;
  for (const ClusterId& cluster : inventory_.clusters()) {
    auto recent = allocate_recent(cluster, *window);
    if (!recent) {
      counters_.add_failure("allocate the last minutes", recent.error());
      continue;
    }
    if (const auto note = notes_.find(cluster); note != notes_.end()) {
      recent->notes.push_back(note->second);
    }
    if (auto note = inventory_.note_of_unknown_nodes(cluster)) {
      recent->notes.push_back(*std::move(note));
    }
    const auto today = today_.find(cluster);
    const auto earlier = earlier_.find(cluster);
    view->clusters.emplace(
        cluster,
        LiveCluster{.cluster = cluster,
                    .recent = *std::move(recent),
                    .today = today == today_.end() ? std::nullopt : std::optional(today->second),
                    .earlier = earlier == earlier_.end() ? nullptr : earlier->second,
                    .is_watched = inventory_.is_watched(cluster)});
  }
  return view;
}

}  // namespace pennyweight
