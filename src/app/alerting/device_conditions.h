// What is wrong with devices now, according to the last minutes of telemetry: heat, XIDs, memory
// errors, throttling, and clusters from which nothing arrives.
//
// An alert is about a node or a cluster and names the GPUs in its summary: one fault that shows on
// eight GPUs of a node is one alert.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/alert_config.h"
#include "core/id.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "ledger/usage.h"

namespace pennyweight {

// How far back telemetry is looked at: for errors, and for what is new.
std::chrono::milliseconds device_window(const AlertThresholds& thresholds);

// gpu_hot, gpu_xid, gpu_out_of_memory, gpu_ecc, gpu_throttled, over the usage of the window before
// `now`. Heat and throttling are of the newest span of a GPU, of the last 5 minutes; errors as
// old as thresholds.errors_for_ms. A GPU that has a reading (span_ms 0) is as hot as the newest one
// says, since the mean of a minute that has just begun to be hot is cool. The same span may come
// twice.
std::vector<AlertCondition> device_conditions(std::span<const Usage> usages, Instant now,
                                              const AlertThresholds& thresholds);

// Drops what says nothing about the window before `now`: the spans that are neither the newest of
// their GPU nor have errors.
void keep_telling(std::vector<Usage>& usages, Instant now);

// The end of the last telemetry from each cluster, and from each of its nodes.
struct LastTelemetry {
  std::map<ClusterId, Instant> clusters = {};
  std::map<std::pair<ClusterId, NodeId>, Instant> nodes = {};
};
void note_telemetry(std::span<const Usage> usages, LastTelemetry& last);
// Nodes that have been silent for a day are gone.
void forget_nodes(LastTelemetry& last, Instant now);
// telemetry_missing: a cluster that sent telemetry has sent none for so long. node_missing: one of
// its nodes has, while `is_held` says that work holds it; silent beside telemetry_missing.
std::vector<AlertCondition> silence_conditions(
    const LastTelemetry& last, Instant now, const AlertThresholds& thresholds,
    const std::function<bool(const ClusterId&, const NodeId&)>& is_held = {});
// What else is wrong with a node that is missing follows from that, but for the XID that says why.
void inhibit_on_missing_nodes(std::vector<AlertCondition>& conditions);

}  // namespace pennyweight
