// The names of all metrics that classify_series() reads, for a backfill, which has to ask a server
// for metrics by name. Those of kube-state-metrics are left out: they are states of objects, not
// samples of a past window.
#pragma once

#include <string>
#include <vector>

#include "telemetry/classification.h"

namespace pennyweight::telemetry {

// Sorted, each once, including those of configured outcomes.
std::vector<std::string> metric_names(const ClassificationOptions& options);

}  // namespace pennyweight::telemetry
