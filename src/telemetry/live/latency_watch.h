// LatencyWatch: keeps how long inference services took to answer, from the buckets of their
// histograms while they arrive; all other state series it hands on.
//
// Its state is a part of the engine's snapshot, and what came after it is given again from the
// journal: so the baseline survives a crash, and no request counts twice. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "telemetry/live/latency_history.h"
#include "telemetry/live/state_sink.h"

namespace pennyweight::live {

// How long a service took to answer: the p95 of the window, and the usual one.
struct LatencyReading {
  ClusterId cluster;
  std::string service;  // "namespace/model", or a workload
  WorkloadId workload;  // one of those that answer
  std::uint64_t p95_ms = 0;
  bool is_at_least = false;  // it lies beyond the last bound of the histogram
  std::uint64_t requests = 0;
  std::uint64_t usual_p95_ms = 0;
  std::uint64_t usual_requests = 0;
  bool is_slow = false;         // more than so many times the usual one
  bool lacks_baseline = false;  // nobody knows what is usual
};

class LatencyWatch : public StateSink {
 public:
  // `next` outlives it.
  LatencyWatch(LatencyRule rule, StateSink& next) : rule_(rule), next_(next) {}

  std::uint64_t declare(const telemetry::StateSeries& series) override;
  void sample(std::uint64_t handle, std::int64_t at_ms, double value) override;
  void stale(std::uint64_t handle, std::int64_t at_ms) override;
  std::string save() const override;
  Result<void> load(std::string_view text) override;

  // The services that answered requests in the window of the rule.
  std::vector<LatencyReading> readings(Instant now) const;

 private:
  struct Bucket {
    std::uint32_t service = 0;
    double bound = 0;
    double value = 0;         // of the last sample
    std::int64_t at_ms = -1;  // of the last sample; -1: none came
  };
  struct Service {
    ClusterId cluster{""};
    std::string name;
    WorkloadId workload{""};
    LatencyHistory history;
  };
  std::uint32_t find_or_add_service(const ClusterId& cluster, std::string_view name);

  const LatencyRule rule_;
  StateSink& next_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Service> services_;
  std::map<std::pair<ClusterId, std::string>, std::uint32_t> by_name_;
  std::map<Hash128, Bucket> buckets_;
  std::vector<std::pair<Hash128, WorkloadId>> handles_;
};

}  // namespace pennyweight::live
