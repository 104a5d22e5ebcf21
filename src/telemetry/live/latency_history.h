// LatencyHistory: how long a service has taken to answer, from the buckets of its histogram: now,
// and as it usually does.
//
// Requests come as increases of cumulative buckets (how many took at most so long). Those of the
// window are "now"; older ones become the baseline, of 24 hours, unless they were slow themselves:
// what is being complained of must not become what is usual. So after a slow day there is no
// baseline left, and a new one is learned.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "core/instant.h"

namespace pennyweight::live {

struct LatencyRule {
  std::chrono::milliseconds window{300'000};
  std::uint32_t times = 5;      // slow is more than so many times the baseline
  std::uint32_t requests = 20;  // that the window needs at least
  // That the baseline needs at least.
  std::uint64_t usual_requests() const { return std::uint64_t{5} * requests; }
};

// By the bound of the bucket in seconds, the last one infinite: how many requests took at most so
// long. Cumulative, as Prometheus has them.
using LatencyBuckets = std::map<double, double>;

struct LatencyQuantile {
  double seconds = 0;
  bool is_at_least = false;  // it lies beyond the last finite bound
};
// As Prometheus' histogram_quantile() has it: interpolated within its bucket. Nothing without
// requests or without a finite bound.
std::optional<LatencyQuantile> latency_quantile(const LatencyBuckets& buckets, double quantile);
double request_count(const LatencyBuckets& buckets);

struct LatencyLevels {
  std::optional<LatencyQuantile> p95;  // of the window
  double requests = 0;                 // in the window
  std::optional<LatencyQuantile> usual_p95;
  double usual_requests = 0;
  // More than `times` the baseline, where both have enough requests.
  bool is_slow = false;
  // The window has enough requests, and the baseline has not.
  bool lacks_baseline = false;
};

class LatencyHistory {
 public:
  // Increases of buckets at one time. What is older than the baseline is passed over.
  void add(Instant at, const LatencyBuckets& increases, const LatencyRule& rule);
  LatencyLevels levels(Instant now, const LatencyRule& rule) const;

  // By begin in units of kSlot and kHour since 1970, for a snapshot.
  std::map<std::int64_t, LatencyBuckets> slots;
  std::map<std::int64_t, LatencyBuckets> hours;

  static constexpr std::chrono::milliseconds kSlot{5'000};
  static constexpr std::chrono::milliseconds kHour{3'600'000};

 private:
  LatencyBuckets usual(std::int64_t now_ms) const;
};

}  // namespace pennyweight::live
