// The metrics of device exporters: dcgm-exporter, nvidia_gpu_exporter, HAMi and Volcano.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/classification.h"

namespace pennyweight::telemetry {

struct DeviceMetric {
  std::string_view family;   // of DeviceSeries::source
  std::string_view variant;  // the same
  Quantity quantity;
  double scale;
  double most;
  std::string_view component;     // "tx", "rx"
  bool is_per_container = false;  // each series is of one container
  bool is_description = false;    // its labels say which model the GPU is; it measures nothing
};

// Nothing for a metric that is not read.
std::optional<DeviceMetric> find_device_metric(std::string_view name);

// Adds every name that find_device_metric() knows.
void add_device_metric_names(std::vector<std::string>& names);

// Whether exporters only know it of a whole GPU, whatever instance or pod the labels name.
bool is_per_gpu(Quantity quantity);

}  // namespace pennyweight::telemetry
