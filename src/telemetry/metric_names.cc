#include "telemetry/metric_names.h"

#include <algorithm>

#include "telemetry/container_series.h"
#include "telemetry/device_metric.h"
#include "telemetry/latency_series.h"
#include "telemetry/outcome_series.h"

namespace pennyweight::telemetry {

std::vector<std::string> metric_names(const ClassificationOptions& options) {
  std::vector<std::string> names;
  add_device_metric_names(names);
  add_outcome_metric_names(options, names);
  add_container_metric_names(options, names);
  add_latency_metric_names(names);
  std::ranges::sort(names);
  const auto twice = std::ranges::unique(names);
  names.erase(twice.begin(), twice.end());
  return names;
}

}  // namespace pennyweight::telemetry
