// What nodes and GPUs cost per hour, and what containers and services report of themselves, for
// /metrics.
#pragma once

#include <cstddef>
#include <span>

#include "app/alerting/serving_conditions.h"
#include "reporting/live/live_rows.h"
#include "server/metrics.h"
#include "telemetry/live/latency_watch.h"

namespace pennyweight {

// The most expensive nodes and GPUs, so many of each, and the sums of the others of each cluster.
void add_node_costs(const LiveView& view, std::size_t shown_max, server::MetricsText& metrics);
void add_gpu_costs(const LiveView& view, std::size_t shown_max, server::MetricsText& metrics);

// Containers that were killed for lack of memory in the last day, and how long services take.
void add_kills(const OomKills& kills, server::MetricsText& metrics);
void add_latencies(std::span<const live::LatencyReading> services, server::MetricsText& metrics);

}  // namespace pennyweight
