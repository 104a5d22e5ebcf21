#include "app/daemon/live_costing.h"

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

}  // namespace

Result<LiveCosts> LiveCosting::allocate_recent(const ClusterId& cluster,
                                               const Interval& window) const {
  std::vector<Usage> usages = engine_->recent(cluster);
  std::vector<Gpu> gpus = inventory_.gpus(cluster);
  add_unwritten_gpus(usages, gpus);
  extend_back(gpus, window.begin());
  UtilizationSource utilization = [&, usages = std::move(usages)](const Interval& during) {
    return to_intervals(usages, gpus, config_.policy.usage, during);
  };
  return allocate_window(cluster, window, gpus, std::move(utilization));
}

Result<LiveCosts> LiveCosting::allocate_window(const ClusterId& cluster, const Interval& window,
                                               const std::vector<Gpu>& gpus,
                                               UtilizationSource utilization) const {
  const std::vector<Node> nodes = inventory_.nodes(cluster);
  const std::vector<Holding> holdings = inventory_.holdings(cluster, window, kTrust);
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
                     .utilization = std::move(utilization)});
}

void LiveCosting::allocate_today(Store& store, Instant now) {
  const milliseconds between = std::max<milliseconds>(milliseconds(config_.live.serve.allocate_ms),
                                                      kTodayPause * today_took_);
  if (now >= today_allocated_at_ && now - today_allocated_at_ < between) return;
  const TimeZone& zone = config_.policy.time_zone;
  const auto today = Interval::of(start_of_day(now, zone), now);
  if (!today) return;
  for (const ClusterId& cluster : inventory_.clusters()) {
    const std::vector<Gpu> gpus = inventory_.gpus(cluster);
    auto costs = allocate_window(cluster, *today, gpus,
                                 telemetry_source(store, cluster, gpus, config_.policy.usage));
    if (!costs) {
      counters_.add_failure("allocate today", costs.error());
      continue;
    }
    today_.insert_or_assign(cluster, *std::move(costs));
  }
  today_allocated_at_ = now;
  today_took_ = std::max(milliseconds(0), clock_.now() - now);
}

Result<void> LiveCosting::read_earlier_costs(Store& store, Instant now) {
  const TimeZone& zone = config_.policy.time_zone;
  const Instant midnight = start_of_day(now, zone);
  const auto today =
      std::chrono::floor<std::chrono::days>(*parse_instant(local_date(midnight, zone)));
  const auto rows = TRY(store.summarise(
      {.last_day = today - std::chrono::days(1),
       .group_by = {"cluster", "workload"},
       .filters = {{"month", {to_text(now).substr(0, 7)}, false}, {"workload", {""}, true}}}));
  earlier_.clear();
  for (const SummaryRow& row : rows) {
    auto& of_cluster = earlier_[ClusterId(row.keys[0])];
    const auto [at, is_new] = of_cluster.try_emplace(WorkloadId(row.keys[1]), row.costs.effective);
    if (!is_new && at->second.currency() == row.costs.currency()) at->second += row.costs.effective;
  }
  return {};
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
    const auto today = today_.find(cluster);
    view->clusters.emplace(
        cluster,
        LiveCluster{.cluster = cluster,
                    .recent = *std::move(recent),
                    .today = today == today_.end() ? std::nullopt : std::optional(today->second),
                    .earlier = earlier_[cluster]});
  }
  return view;
}

}  // namespace pennyweight
