// What is wrong with devices now, according to the last minutes of telemetry: heat, XIDs, memory
// errors, throttling, and clusters from which nothing arrives.
//
// An alert is about a node or a cluster and names the GPUs in its summary: one fault that shows on
// eight GPUs of a node is one alert.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "config/alert_config.h"
#include "core/id.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "ledger/usage.h"

namespace pennyweight {

// How far back telemetry is looked at.
inline constexpr std::chrono::milliseconds kDeviceWindow = std::chrono::minutes(15);

// gpu_hot, gpu_xid, gpu_out_of_memory, gpu_ecc, gpu_throttled, over the usage of the window before
// `now`. Heat and throttling are of the newest span of a GPU, of the last 5 minutes; errors of the
// whole window.
std::vector<AlertCondition> device_conditions(std::span<const Usage> usages, Instant now,
                                              const AlertThresholds& thresholds);

// The end of the last telemetry from each cluster.
using LastTelemetry = std::map<ClusterId, Instant>;
void note_telemetry(std::span<const Usage> usages, LastTelemetry& last);
// telemetry_missing: a cluster that sent telemetry has sent none for so long.
std::vector<AlertCondition> silence_conditions(const LastTelemetry& last, Instant now,
                                               const AlertThresholds& thresholds);

}  // namespace pennyweight
