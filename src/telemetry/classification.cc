#include "telemetry/classification.h"

#include <array>
#include <cmath>
#include <optional>

#include "telemetry/container_series.h"
#include "telemetry/device_series.h"
#include "telemetry/label_view.h"
#include "telemetry/latency_series.h"
#include "telemetry/outcome_series.h"
#include "telemetry/state_series.h"

namespace pennyweight::telemetry {
namespace {

bool within(double value, double first, double last) { return value >= first && value <= last; }
bool is_int32_blank(double value) { return within(value, 2147483632.0, 2147483635.0); }
bool is_double_blank(double value) { return within(value, 140737488355328.0, 140737488355331.0); }
// 9223372036854775792 and the three after it become one number as doubles.
bool is_int64_blank(double value) { return value == 9223372036854775808.0; }

}  // namespace

std::string_view to_text(Quantity quantity) {
  constexpr std::array<std::string_view, kQuantities> kNames = {
      "gpu_util",        "engine_active", "sm_active",       "tensor_active", "dram_active",
      "memory_used",     "memory_free",   "memory_reserved", "memory_total",  "power",
      "energy",          "temperature",   "sm_clock",        "throttle",      "pcie",
      "nvlink",          "xid",           "xid_count",       "ecc_errors",    "sm_cycles_elapsed",
      "sm_cycles_active"};
  return kNames.at(static_cast<std::size_t>(quantity));
}

Classification classify_series(std::span<const prometheus::Label> labels,
                               const ClassificationOptions& options) {
  const LabelView view(labels, options);
  std::optional<Classification> meaning = classify_outcome_series(view);
  if (!meaning) meaning = classify_container_series(view);
  if (!meaning) meaning = classify_device_series(view);
  if (!meaning) meaning = classify_state_series(view);
  if (!meaning) meaning = classify_latency_series(view);
  if (!meaning) return Ignored{};
  if (!view.has_storable_labels()) {
    return Unusable{"a label is not UTF-8, or longer than a name may be; check the exporter"};
  }
  return *std::move(meaning);
}

Hash128 series_identity(const DeviceSeries& series) {
  return Fingerprint()
      .add(series.cluster.text())
      .add(series.gpu.text())
      .add(series.mig_instance)
      .add(series.mig_profile)
      .add(series.workload.text())
      .add(std::int64_t{series.of_workload ? 1 : 0})
      .add(static_cast<std::int64_t>(series.quantity))
      .add(series.component)
      .hash();
}

Hash128 series_identity(const OutcomeSeries& series) {
  Fingerprint print;
  print.add(series.cluster.text()).add(series.workload.text()).add(series.measure);
  for (const auto& [key, value] : series.labels.entries()) print.add(key).add(value);
  return print.add_absent().add(series.component).hash();
}

bool is_blank(double value) {
  return !std::isfinite(value) || is_int32_blank(value) || is_double_blank(value) ||
         is_int64_blank(value);
}

bool is_blank(Quantity quantity, double value) {
  if (quantity == Quantity::kEnergy) {
    return !std::isfinite(value) || is_double_blank(value) || is_int64_blank(value);
  }
  if (quantity == Quantity::kSmCyclesElapsed || quantity == Quantity::kSmCyclesActive) {
    return !std::isfinite(value) || is_int64_blank(value);
  }
  return is_blank(value);
}

}  // namespace pennyweight::telemetry
