// Selects the histograms by which inference servers say how long requests took.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/label_view.h"

namespace pennyweight::telemetry {

// The metric of the StateSeries that it becomes, with the labels
//   service    "namespace/model", or the workload where no label names a model
//   workload   "namespace/pod", or the id of an HPC job
//   le         the bound of the bucket in seconds, or "+Inf"
//   component  what tells the histograms of one service apart
inline constexpr std::string_view kLatencyBuckets = "request_latency_bucket";

// Nothing for other metrics.
std::optional<Classification> classify_latency_series(const LabelView& labels);

void add_latency_metric_names(std::vector<std::string>& names);

}  // namespace pennyweight::telemetry
