#include "reporting/live/live_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

#include "core/card_share.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kLimitMinutesMost = 100'000'000;

// The part of the window in which it ran.
Interval time_held(const LiveShare& share, const Interval& window) {
  if (share.held_ms && *share.held_ms > 0) {
    const auto held = std::chrono::milliseconds(static_cast<std::int64_t>(*share.held_ms));
    return {window.end() - std::min(held, window.end() - window.begin()), window.end()};
  }
  if (!share.since || *share.since <= window.begin()) return window;
  return Interval::of(*share.since, window.end()).value_or(window);
}

std::uint64_t gpu_thousandths(GpuTime time, const Interval& during) {
  const UInt128 card = UInt128{during.length_ms()} * CardShare::kUnitsPerCard;
  return static_cast<std::uint64_t>((time.count() * 1000 + card / 2) / card);
}

void fill_current_cost(LiveRow& row, const Interval& window) {
  const LiveShare& share = *row.recent;
  const Interval held = time_held(share, window);
  row.runs = share.running;
  row.gpu_milli = gpu_thousandths(share.gpu_time, held);
  if (!row.runs) return;
  if (share.cost) row.hour = per_hour(*share.cost, held);
  if (share.idle_cost) row.idle_hour = per_hour(*share.idle_cost, held);
}

void fill_past_cost(LiveRow& row, const LiveCluster& cluster, const WorkloadId& workload) {
  if (row.today != nullptr) row.cost_today = row.today->cost;
  row.cost_month = row.cost_today;
  if (!cluster.earlier) return;
  const auto earlier = cluster.earlier->find(workload);
  if (earlier == cluster.earlier->end()) return;
  const Money& cost = earlier->second.cost;
  if (!row.cost_month) {
    row.cost_month = cost;
  } else if (row.cost_month->currency() == cost.currency()) {
    *row.cost_month += cost;
  }
}

std::shared_ptr<const LiveShare> share_of_the_past(const char* name, const Labels& dimensions) {
  return std::make_shared<const LiveShare>(LiveShare{.workload = WorkloadId(name),
                                                     .labels = {},
                                                     .dimensions = dimensions,
                                                     .nodes = {},
                                                     .gpus = {},
                                                     .device = {},
                                                     .since = {},
                                                     .cost = {},
                                                     .idle_cost = {},
                                                     .gpu_time = {},
                                                     .observed_time = {}});
}

// Adds a row for each combination of dimensions of the workloads that ended before today.
void add_ended(const LiveCluster& cluster, const std::map<WorkloadId, LiveRow>& shown,
               std::vector<LiveRow>& rows) {
  if (!cluster.earlier) return;
  std::map<std::pair<Currency, Labels>, Money> sums;
  for (const auto& [workload, earlier] : *cluster.earlier) {
    if (workload.empty() || shown.contains(workload)) continue;
    const auto [at, is_new] =
        sums.try_emplace({earlier.cost.currency(), earlier.dimensions}, earlier.cost);
    if (!is_new) at->second += earlier.cost;
  }
  for (const auto& [key, sum] : sums) {
    LiveRow& row = rows.emplace_back();
    row.cluster = cluster.cluster;
    row.ended = share_of_the_past(kEndedBeforeToday, key.second);
    row.cost_month = sum;
  }
}

// The nodes' price per hour less that of the running workloads; zero where the policy spreads
// unallocated cost over others.
void fill_unallocated(LiveRow& unallocated, const LiveCosts& recent,
                      std::span<const LiveRow> rows) {
  unallocated.is_unallocated = unallocated.runs = true;
  std::uint64_t held = 0;
  std::optional<Money> rest = recent.price_per_hour;
  for (const LiveRow& row : rows) {
    if (!row.runs) continue;
    held += row.gpu_milli;
    if (rest && row.hour && row.hour->currency() == rest->currency()) rest = *rest - *row.hour;
  }
  unallocated.gpu_milli = recent.gpus * 1000 - std::min(held, recent.gpus * 1000);
  if (rest && rest->ticks() < 0) rest = Money::zero(rest->currency());
  unallocated.hour = rest;
}

std::vector<LiveRow> cluster_rows(const LiveCluster& cluster) {
  std::map<WorkloadId, LiveRow> by_workload;
  const auto of = [&](const LiveShare& share) -> LiveRow& {
    LiveRow& row = by_workload[share.workload];
    row.cluster = cluster.cluster;
    return row;
  };
  for (const LiveShare& share : cluster.recent.shares) of(share).recent = &share;
  if (cluster.today) {
    for (const LiveShare& share : cluster.today->shares) of(share).today = &share;
  }
  LiveRow unallocated;
  unallocated.cluster = cluster.cluster;
  std::vector<LiveRow> rows;
  const bool nobody_now = !by_workload.contains(WorkloadId(""));
  if (nobody_now) {
    unallocated.ended = share_of_the_past("", {});
    fill_past_cost(unallocated, cluster, WorkloadId(""));
  }
  for (auto& [workload, row] : by_workload) {
    if (workload.empty()) {
      unallocated = row;
    } else if (row.recent != nullptr) {
      fill_current_cost(row, cluster.recent.window);
    }
    fill_past_cost(workload.empty() ? unallocated : row, cluster, workload);
    if (!workload.empty()) rows.push_back(std::move(row));
  }
  fill_unallocated(unallocated, cluster.recent, rows);
  add_ended(cluster, by_workload, rows);
  const bool is_something =
      unallocated.recent != nullptr || unallocated.today != nullptr || unallocated.cost_month;
  if (is_something) rows.insert(rows.begin(), std::move(unallocated));
  return rows;
}

}  // namespace

std::optional<Ratio> busy_ratio(const LiveRow& row) {
  const LiveShare& share = row.share();
  if (row.is_unallocated || share.observed_time == GpuTime()) return {};
  const auto observed = static_cast<Int128>(share.observed_time.count());
  const auto idle = static_cast<Int128>(share.idle_time.count());
  return Ratio{std::max<Int128>(0, observed - idle), observed};
}

std::optional<Instant> time_limit_end(const LiveRow& row) {
  if (row.is_unallocated || !row.runs) return std::nullopt;
  const LiveShare& share = row.share();
  const auto limit = share.labels.find("time_limit_minutes");
  if (!limit || !share.since) return std::nullopt;
  const auto minutes = parse_count(*limit, kLimitMinutesMost);
  if (!minutes) return std::nullopt;
  return *share.since + std::chrono::minutes(*minutes);
}

std::optional<Money> cost_to_time_limit(const LiveRow& row, Instant now) {
  const auto end = time_limit_end(row);
  if (!end || !row.hour) return std::nullopt;
  const auto left = std::max(std::chrono::milliseconds(0),
                             std::chrono::floor<std::chrono::milliseconds>(*end - now));
  constexpr Int128 kHourMs = 3'600'000;
  // In two steps, since the product of an hour's ticks and a long limit may not fit.
  const Int128 hours = left.count() / kHourMs, rest = left.count() % kHourMs;
  return Money::from_ticks(row.hour->ticks() * hours + row.hour->ticks() * rest / kHourMs,
                           row.hour->currency());
}

std::string gpus_text(std::uint64_t milli) {
  if (milli % 1000 == 0) return fmt::format("{}", milli / 1000);
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::vector<LiveRow> live_rows(const LiveView& view) {
  std::vector<LiveRow> all;
  for (const auto& [id, cluster] : view.clusters) {
    std::ranges::move(cluster_rows(cluster), std::back_inserter(all));
  }
  return all;
}

std::shared_ptr<const ViewRows> view_rows(std::shared_ptr<const LiveView> view) {
  ViewRows both;
  both.rows = live_rows(*view);
  both.view = std::move(view);
  return std::make_shared<const ViewRows>(std::move(both));
}

}  // namespace pennyweight
