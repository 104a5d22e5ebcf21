#include "telemetry/live/latency_history.h"

#include <algorithm>
#include <cmath>

namespace pennyweight::live {
namespace {

constexpr double kQuantile = 0.95;
constexpr std::int64_t kUsualHours = 24;

void merge(const LatencyBuckets& more, LatencyBuckets& into) {
  for (const auto& [bound, count] : more) into[bound] += count;
}

bool is_slower(const std::optional<LatencyQuantile>& now,
               const std::optional<LatencyQuantile>& usual, std::uint32_t times) {
  // Beyond the last bound nobody knows how slow; the baseline may lie there too.
  return now && usual && !usual->is_at_least && now->seconds > usual->seconds * times;
}

bool is_baseline(const LatencyBuckets& usual, const LatencyRule& rule) {
  return request_count(usual) >= static_cast<double>(rule.usual_requests());
}

}  // namespace

double request_count(const LatencyBuckets& buckets) {
  return buckets.empty() ? 0 : buckets.rbegin()->second;
}

std::optional<LatencyQuantile> latency_quantile(const LatencyBuckets& buckets, double quantile) {
  const double whole = request_count(buckets);
  if (whole <= 0 || !std::isfinite(buckets.begin()->first)) return std::nullopt;
  const double rank = whole * quantile;
  double bound_before = 0, count_before = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank) {
      if (!std::isfinite(bound)) return LatencyQuantile{bound_before, true};
      const double inside = count - count_before;
      const double part = inside > 0 ? (rank - count_before) / inside : 1;
      return LatencyQuantile{bound_before + (bound - bound_before) * part, false};
    }
    bound_before = bound;
    count_before = count;
  }
  return std::nullopt;
}

LatencyBuckets LatencyHistory::usual(std::int64_t now_ms) const {
  LatencyBuckets sum;
  for (const auto& [hour, buckets] : hours) {
    if ((hour + 1 + kUsualHours) * kHour.count() > now_ms) merge(buckets, sum);
  }
  return sum;
}

void LatencyHistory::add(Instant at, const LatencyBuckets& increases, const LatencyRule& rule) {
  const std::int64_t at_ms = unix_ms(at);
  const std::int64_t newest_ms =
      slots.empty() ? at_ms : std::max(at_ms, slots.rbegin()->first * kSlot.count());
  if (at_ms < newest_ms - kUsualHours * kHour.count()) return;
  merge(increases, slots[at_ms / kSlot.count()]);
  std::erase_if(hours, [&](const auto& one) {
    return (one.first + 1 + kUsualHours) * kHour.count() <= newest_ms;
  });
  // What leaves the window is learned, the oldest first.
  while (!slots.empty()) {
    const auto& [slot, buckets] = *slots.begin();
    const std::int64_t begin_ms = slot * kSlot.count();
    if (begin_ms + kSlot.count() > newest_ms - rule.window.count()) break;
    const LatencyBuckets known = usual(newest_ms);
    const bool is_slow =
        is_baseline(known, rule) && is_slower(latency_quantile(buckets, kQuantile),
                                              latency_quantile(known, kQuantile), rule.times);
    if (!is_slow) merge(buckets, hours[begin_ms / kHour.count()]);
    slots.erase(slots.begin());
  }
}

LatencyLevels LatencyHistory::levels(Instant now, const LatencyRule& rule) const {
  const std::int64_t now_ms = unix_ms(now);
  LatencyBuckets window;
  for (const auto& [slot, buckets] : slots) {
    if ((slot + 1) * kSlot.count() > now_ms - rule.window.count()) merge(buckets, window);
  }
  const LatencyBuckets known = usual(now_ms);
  LatencyLevels levels{.p95 = latency_quantile(window, kQuantile),
                       .requests = request_count(window),
                       .usual_p95 = latency_quantile(known, kQuantile),
                       .usual_requests = request_count(known)};
  const bool has_requests = levels.requests >= static_cast<double>(rule.requests);
  levels.lacks_baseline = has_requests && !is_baseline(known, rule);
  levels.is_slow = has_requests && is_baseline(known, rule) &&
                   is_slower(levels.p95, levels.usual_p95, rule.times);
  return levels;
}

}  // namespace pennyweight::live
