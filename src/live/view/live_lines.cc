#include "live/view/live_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "core/card_share.h"

namespace pennyweight {
namespace {

// The part of the window in which it ran.
Interval held_in(const LiveShare& share, const Interval& window) {
  if (!share.since || *share.since <= window.begin()) return window;
  return Interval::of(*share.since, window.end()).value_or(window);
}

std::uint64_t milli_of(GpuTime time, const Interval& during) {
  const UInt128 card = UInt128{during.length_ms()} * CardShare::kUnitsPerCard;
  return static_cast<std::uint64_t>((time.count() * 1000 + card / 2) / card);
}

void fill_now(LiveLine& line, const Interval& window) {
  const LiveShare& share = *line.recent;
  const Interval held = held_in(share, window);
  line.runs = share.running;
  line.gpu_milli = milli_of(share.gpu_time, held);
  if (!line.runs) return;
  if (share.cost) line.hour = per_hour(*share.cost, held);
  if (share.idle_cost) line.idle_hour = per_hour(*share.idle_cost, held);
}

void fill_past(LiveLine& line, const LiveCluster& cluster, const WorkloadId& workload) {
  if (line.today != nullptr) line.cost_today = line.today->cost;
  line.cost_month = line.cost_today;
  const auto earlier = cluster.earlier.find(workload);
  if (earlier == cluster.earlier.end() || !line.cost_month) return;
  if (line.cost_month->currency() != earlier->second.currency()) return;
  *line.cost_month += earlier->second;
}

// What is left of the nodes when everybody who runs has theirs. Where others pay for it by the
// policy, nothing is.
void fill_rest(LiveLine& nobody, const LiveCosts& recent, std::span<const LiveLine> lines) {
  nobody.is_nobody = nobody.runs = true;
  std::uint64_t held = 0;
  std::optional<Money> rest = recent.price_per_hour;
  for (const LiveLine& line : lines) {
    if (!line.runs) continue;
    held += line.gpu_milli;
    if (rest && line.hour && line.hour->currency() == rest->currency()) rest = *rest - *line.hour;
  }
  nobody.gpu_milli = recent.gpus * 1000 - std::min(held, recent.gpus * 1000);
  if (rest && rest->ticks() < 0) rest = Money::zero(rest->currency());
  nobody.hour = rest;
}

std::vector<LiveLine> lines_of(const LiveCluster& cluster) {
  std::map<WorkloadId, LiveLine> by_workload;
  const auto of = [&](const LiveShare& share) -> LiveLine& {
    LiveLine& line = by_workload[share.workload];
    line.cluster = cluster.cluster;
    return line;
  };
  for (const LiveShare& share : cluster.recent.shares) of(share).recent = &share;
  if (cluster.today) {
    for (const LiveShare& share : cluster.today->shares) of(share).today = &share;
  }
  LiveLine nobody;
  nobody.cluster = cluster.cluster;
  std::vector<LiveLine> lines;
  for (auto& [workload, line] : by_workload) {
    if (workload.empty()) {
      nobody = line;
    } else if (line.recent != nullptr) {
      fill_now(line, cluster.recent.window);
    }
    fill_past(workload.empty() ? nobody : line, cluster, workload);
    if (!workload.empty()) lines.push_back(std::move(line));
  }
  fill_rest(nobody, cluster.recent, lines);
  const bool is_something = nobody.recent != nullptr || nobody.today != nullptr;
  if (is_something) lines.insert(lines.begin(), std::move(nobody));
  return lines;
}

}  // namespace

std::optional<Ratio> busy_of(const LiveLine& line) {
  constexpr Int128 kMillion = 1'000'000;
  const LiveShare& share = line.share();
  if (line.is_nobody || share.gpu_time == GpuTime() || !share.gpu_cost || !share.idle_cost) {
    return {};
  }
  const auto seen =
      static_cast<Int128>(share.observed_time.count() * kMillion / share.gpu_time.count());
  const Int128 whole = share.gpu_cost->ticks() * seen;
  if (whole <= 0) return {};
  return Ratio{std::max<Int128>(0, whole - share.idle_cost->ticks() * kMillion), whole};
}

std::string gpus_text(std::uint64_t milli) {
  if (milli % 1000 == 0) return fmt::format("{}", milli / 1000);
  std::string text = fmt::format("{}.{:03}", milli / 1000, milli % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::vector<LiveLine> live_lines(const LiveView& view) {
  std::vector<LiveLine> all;
  for (const auto& [id, cluster] : view.clusters) {
    std::ranges::move(lines_of(cluster), std::back_inserter(all));
  }
  return all;
}

}  // namespace pennyweight
