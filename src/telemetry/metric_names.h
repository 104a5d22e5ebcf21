// The names of all metrics that meaning_of() makes something of, for who has to ask for them by
// name: a backfill asks a server of the past. Without kube-state-metrics, whose objects are states
// and no samples of a past window.
#pragma once

#include <string>
#include <vector>

#include "telemetry/meaning.h"

namespace pennyweight::telemetry {

// Sorted, each once; those of configured outcomes among them.
std::vector<std::string> metric_names(const MeaningOptions& options);

}  // namespace pennyweight::telemetry
