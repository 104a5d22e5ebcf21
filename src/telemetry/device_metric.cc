#include "telemetry/device_metric.h"

#include <algorithm>

#include "core/check.h"
#include "core/gpu/dcgm_metric.h"

namespace pennyweight::telemetry {
namespace {

using enum Quantity;

constexpr double kShare = 1e6;                       // ppm of a ratio
constexpr double kPercent = 1e4;                     // ppm of a percent
constexpr double kBytesMost = 64.0 * (1ull << 40u);  // 64 TiB
constexpr double kExact = 9007199254740992.0;        // 2^53

struct NamedMetric {
  std::string_view name;
  DeviceMetric metric;
};

constexpr NamedMetric smi(std::string_view name, Quantity quantity, double scale, double most,
                          std::string_view variant = {}) {
  return {name, {"nvidia-smi", variant, quantity, scale, most, {}}};
}
constexpr NamedMetric hami(std::string_view name, Quantity quantity, double scale, double most,
                           bool is_per_container) {
  return {name, {"hami", {}, quantity, scale, most, {}, is_per_container}};
}

// nvidia_gpu_exporter (utkuozdemir): the fields of `nvidia-smi --help-query-gpu`, with '_' for '.'
// and the unit at the end. Utilisation really is a ratio, memory is in bytes, clocks in hertz.
// Driver 535 renamed clocks_throttle_reasons to clocks_event_reasons. There is no energy and no
// profiling.
//
// HAMi's vGPUmonitor and Volcano's device plugin (HAMi cmd/vGPUmonitor/metrics.go): first the names
// since 2.9, then those of --legacy-metrics and of Volcano. Utilisation is 0 to 100 in spite of
// "_ratio". Limits and cores are allotments, not measurements; they are read from annotations.
constexpr NamedMetric kNamed[] = {
    {"nvidia_smi_gpu_info", {"nvidia-smi", {}, kGpuUtil, 1, 1, {}, false, true}},
    smi("nvidia_smi_utilization_gpu_ratio", kGpuUtil, kShare, 1),
    smi("nvidia_smi_memory_used_bytes", kMemoryUsed, 1, kBytesMost),
    smi("nvidia_smi_memory_free_bytes", kMemoryFree, 1, kBytesMost),
    smi("nvidia_smi_memory_reserved_bytes", kMemoryReserved, 1, kBytesMost),
    smi("nvidia_smi_memory_total_bytes", kMemoryTotal, 1, kBytesMost),
    smi("nvidia_smi_power_draw_watts", kPower, 1000, 100'000),
    smi("nvidia_smi_power_draw_average_watts", kPower, 1000, 100'000, "average"),
    smi("nvidia_smi_power_draw_instant_watts", kPower, 1000, 100'000, "instant"),
    smi("nvidia_smi_temperature_gpu", kTemperature, 1, 1000),
    smi("nvidia_smi_clocks_current_sm_clock_hz", kSmClock, 1e-6, 1e11),
    smi("nvidia_smi_clocks_event_reasons_active", kThrottle, 1, 4294967296.0),
    smi("nvidia_smi_clocks_throttle_reasons_active", kThrottle, 1, 4294967296.0),
    smi("nvidia_smi_ecc_errors_uncorrected_volatile_total", kEccErrors, 1, kExact),
    smi("nvidia_smi_ecc_errors_uncorrected_aggregate_total", kEccErrors, 1, kExact, "aggregate"),
    hami("hami_container_device_utilization_ratio", kGpuUtil, kPercent, 100, true),
    hami("hami_vgpu_memory_used_bytes", kMemoryUsed, 1, kBytesMost, true),
    hami("hami_host_gpu_utilization_ratio", kGpuUtil, kPercent, 100, false),
    hami("hami_host_gpu_memory_used_bytes", kMemoryUsed, 1, kBytesMost, false),
    hami("Device_utilization_desc_of_container", kGpuUtil, kPercent, 100, true),
    hami("vGPU_device_memory_usage_in_bytes", kMemoryUsed, 1, kBytesMost, true),
    hami("HostCoreUtilization", kGpuUtil, kPercent, 100, false),
    hami("HostGPUMemoryUsage", kMemoryUsed, 1, kBytesMost, false),
};

struct MetricVariant {
  Quantity quantity;
  std::string_view component = {};
};

MetricVariant meant_by(DcgmField field) {
  switch (field) {
    case DcgmField::kGpuUtil:
      return {kGpuUtil};
    case DcgmField::kEngineActive:
      return {kEngineActive};
    case DcgmField::kSmActive:
      return {kSmActive};
    case DcgmField::kTensorActive:
      return {kTensorActive};
    case DcgmField::kDramActive:
      return {kDramActive};
    case DcgmField::kMemoryUsed:
      return {kMemoryUsed};
    case DcgmField::kMemoryFree:
      return {kMemoryFree};
    case DcgmField::kMemoryReserved:
      return {kMemoryReserved};
    case DcgmField::kMemoryTotal:
      return {kMemoryTotal};
    case DcgmField::kPower:
      return {kPower};
    case DcgmField::kEnergy:
      return {kEnergy};
    case DcgmField::kTemperature:
      return {kTemperature};
    case DcgmField::kSmClock:
      return {kSmClock};
    case DcgmField::kClockEvents:
      return {kThrottle};
    case DcgmField::kPcieSent:
      return {kPcie, "tx"};
    case DcgmField::kPcieReceived:
      return {kPcie, "rx"};
    case DcgmField::kNvlinkSent:
      return {kNvlink, "tx"};
    case DcgmField::kNvlinkReceived:
      return {kNvlink, "rx"};
    case DcgmField::kXid:
      return {kXid};
    case DcgmField::kXidCount:
      return {kXidCount};
    case DcgmField::kEccErrors:
      return {kEccErrors};
    case DcgmField::kSmCyclesElapsed:
      return {kSmCyclesElapsed};
    case DcgmField::kSmCyclesActive:
      return {kSmCyclesActive};
  }
  CHECK(false, "every field has a quantity");
}

}  // namespace

std::optional<DeviceMetric> find_device_metric(std::string_view name) {
  if (const DcgmMetric* const metric = find_dcgm_metric(name); metric != nullptr) {
    const MetricVariant meant = meant_by(metric->field);
    return DeviceMetric{.family = "dcgm",
                        .variant = metric->variant,
                        .quantity = meant.quantity,
                        .scale = static_cast<double>(metric->units),
                        .most = static_cast<double>(metric->most),
                        .component = meant.component};
  }
  const auto* const at = std::ranges::find(kNamed, name, &NamedMetric::name);
  if (at == std::end(kNamed)) return std::nullopt;
  return at->metric;
}

void add_device_metric_names(std::vector<std::string>& names) {
  for (const DcgmMetric& metric : dcgm_metrics()) names.emplace_back(metric.name);
  for (const NamedMetric& named : kNamed) names.emplace_back(named.name);
}

bool is_per_gpu(Quantity quantity) {
  switch (quantity) {
    case kGpuUtil:
    case kEngineActive:
    case kSmActive:
    case kTensorActive:
    case kDramActive:
    case kMemoryUsed:
    case kMemoryFree:
    case kMemoryReserved:
    case kMemoryTotal:
    case kSmCyclesElapsed:
    case kSmCyclesActive:
      return false;
    case kPower:
    case kEnergy:
    case kTemperature:
    case kSmClock:
    case kThrottle:
    case kPcie:
    case kNvlink:
    case kXid:
    case kXidCount:
    case kEccErrors:
      return true;
  }
  CHECK(false, "every quantity is of a GPU or of an instance");
}

}  // namespace pennyweight::telemetry
