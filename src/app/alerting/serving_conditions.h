// Alert rules about what runs, beside how much of its GPUs it uses: pod_oom_killed and
// latency_high.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "config/alert_config.h"
#include "core/id.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "telemetry/live/latency_watch.h"

namespace pennyweight {

// A container of a pod with GPUs that was killed for lack of memory.
struct OomKill {
  ClusterId cluster;
  WorkloadId workload;
  std::string container;
  Instant at;
  bool operator==(const OomKill&) const = default;
};

struct OomKills {
  std::vector<OomKill> kills;  // of the last day, the last one of each container
  std::set<ClusterId> heard;   // the clusters whose pods were read since `serve` began
  Instant since;               // when it began
};

// The owner of a workload that runs now; empty: it has none, or does not run.
using OwnerLookup = std::function<std::string(const ClusterId&, const WorkloadId&)>;

// pod_oom_killed: for errors_for after a container was killed.
std::vector<AlertCondition> oom_conditions(const OomKills& kills, Instant now,
                                           const AlertThresholds& thresholds,
                                           const OwnerLookup& owner);
// What can't be said: `serve` has just begun, and nobody has told what a cluster's pods are.
bool is_oom_unknown(const OomKills& kills, const ClusterId& cluster, Instant now,
                    const AlertThresholds& thresholds);
// latency_high: the p95 of the last minutes is more than so many times the usual one.
std::vector<AlertCondition> latency_conditions(const std::vector<live::LatencyReading>& services,
                                               const AlertThresholds& thresholds,
                                               const OwnerLookup& owner);
live::LatencyRule latency_rule(const AlertThresholds& thresholds);

}  // namespace pennyweight
