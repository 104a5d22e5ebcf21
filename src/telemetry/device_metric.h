// What device exporters measure: dcgm-exporter, nvidia_gpu_exporter, HAMi and Volcano.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/meaning.h"

namespace pennyweight::telemetry {

struct DeviceMetric {
  std::string_view family;   // of DeviceSeries::source
  std::string_view variant;  // the same
  Quantity quantity;
  double scale;
  double most;
  std::string_view component;  // "tx", "rx"
  bool of_container = false;   // the values are a container's own
};

// Nothing for a metric that no rule of ours reads.
std::optional<DeviceMetric> find_device_metric(std::string_view name);

// Adds every name that find_device_metric() knows.
void add_device_metric_names(std::vector<std::string>& names);

// Known of the whole card only, whatever instance or pod the labels name.
bool is_of_card(Quantity quantity);

}  // namespace pennyweight::telemetry
