#include "trap_text.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace pennyweight::traps {
namespace {

using namespace telemetry;

std::string device_text(const DeviceSeries& series) {
  std::string text = fmt::format("{}", series.gpu.text());
  if (!series.mig_instance.empty()) {
    text += fmt::format(" gi {} ({})", series.mig_instance, series.mig_profile);
  }
  if (series.is_description) {
    return text + fmt::format(" is a {}, on {}, in {}", series.model, series.node.text(),
                              series.cluster.text());
  }
  text += fmt::format(", {}", to_text(series.quantity));
  if (!series.component.empty()) text += fmt::format(" [{}]", series.component);
  text += fmt::format(" x {}, up to {}", series.scale, series.most);
  if (!series.workload.empty()) {
    text +=
        fmt::format(", {} {}", series.of_workload ? "own of" : "labelled", series.workload.text());
  }
  if (!series.node.empty()) text += fmt::format(", on {}", series.node.text());
  if (series.gpu_index >= 0) text += fmt::format(" #{}", series.gpu_index);
  if (!series.model.empty()) text += fmt::format(" ({})", series.model);
  return text + fmt::format(", by {}, in {}", series.source, series.cluster.text());
}

std::string outcome_text(const OutcomeSeries& series) {
  std::string text = fmt::format("{} of {}", series.measure, series.workload.text());
  for (const auto& [key, value] : series.labels.entries()) {
    text += fmt::format(", {}={}", key, value);
  }
  if (!series.component.empty()) text += fmt::format(" [{}]", series.component);
  if (series.level_unit) text += fmt::format(", a level of {}", *series.level_unit);
  if (series.per != 1) text += fmt::format(" x {}", series.per);
  return text + fmt::format(", by {}, in {}", series.source, series.cluster.text());
}

std::string state_text(const StateSeries& series) {
  std::string text = "state";
  for (const auto& label : series.labels) text += fmt::format(" {}={}", label.name, label.value);
  return text + fmt::format(", in {}", series.cluster.text());
}

// The time of day.
std::string clock(Instant at) { return to_text(at).substr(11, 8); }

using Column = std::optional<std::uint64_t> Usage::*;
struct Shown {
  Column column;
  std::string_view name;
  std::uint64_t per;  // so many of the column's unit are one of the text's
  std::string_view unit;
};
constexpr Shown kShown[] = {
    {&Usage::gpu_util_ppm, "gpu_util", 10'000, "%"},
    {&Usage::engine_active_ppm, "engine_active", 10'000, "%"},
    {&Usage::sm_active_ppm, "sm_active", 10'000, "%"},
    {&Usage::tensor_active_ppm, "tensor_active", 10'000, "%"},
    {&Usage::dram_active_ppm, "dram_active", 10'000, "%"},
    {&Usage::activity_max_ppm, "activity_max", 10'000, "%"},
    {&Usage::memory_used_bytes, "memory_used", 1 << 20, "MiB"},
    {&Usage::memory_used_max_bytes, "memory_used_max", 1 << 20, "MiB"},
    {&Usage::memory_reserved_bytes, "memory_reserved", 1 << 20, "MiB"},
    {&Usage::memory_total_bytes, "memory_total", 1 << 20, "MiB"},
    {&Usage::power_milliwatts, "power", 1000, "W"},
    {&Usage::power_max_milliwatts, "power_max", 1000, "W"},
    {&Usage::energy_millijoules, "energy", 1, "mJ"},
    {&Usage::energy_used_millijoules, "energy_used", 1, "mJ"},
    {&Usage::temperature_celsius, "temperature", 1, "C"},
    {&Usage::sm_clock_mhz, "sm_clock", 1, "MHz"},
    {&Usage::pcie_bytes_per_second, "pcie", 1'000'000, "MB/s"},
    {&Usage::nvlink_bytes_per_second, "nvlink", 1'000'000, "MB/s"},
    {&Usage::throttled_ms, "throttled", 1000, "s"},
    {&Usage::xid_errors, "xid_errors", 1, ""},
    {&Usage::last_xid, "last_xid", 1, ""},
    {&Usage::ecc_errors, "ecc_errors", 1, ""},
};

}  // namespace

std::string text_of(const Usage& usage) {
  std::string text =
      fmt::format("{} +{} s {}", clock(usage.at), usage.span_ms / 1000.0, usage.gpu.text());
  if (!usage.mig_instance.empty()) {
    text += fmt::format(" gi {} ({})", usage.mig_instance, usage.mig_profile);
  }
  if (!usage.workload.empty()) {
    text +=
        fmt::format(", {} {}", usage.of_workload ? "own of" : "labelled", usage.workload.text());
  }
  text += ":";
  for (const Shown& shown : kShown) {
    const auto& value = usage.*shown.column;
    if (!value) continue;
    text += fmt::format(" {} {}{}{},", shown.name,
                        static_cast<double>(*value) / static_cast<double>(shown.per),
                        shown.unit.empty() ? "" : " ", shown.unit);
  }
  text.pop_back();
  return text;
}

std::string text_of(const Outcome& outcome) {
  std::string text =
      fmt::format("{}..{} {} {} of {}", clock(outcome.during.begin()), clock(outcome.during.end()),
                  outcome.count, outcome.measure, outcome.workload.text());
  for (const auto& [key, value] : outcome.labels.entries()) {
    text += fmt::format(", {}={}", key, value);
  }
  return text;
}

std::string text_of(const Classification& meaning) {
  if (const auto* device = std::get_if<DeviceSeries>(&meaning)) return device_text(*device);
  if (const auto* outcome = std::get_if<OutcomeSeries>(&meaning)) return outcome_text(*outcome);
  if (const auto* state = std::get_if<StateSeries>(&meaning)) return state_text(*state);
  if (const auto* unusable = std::get_if<Unusable>(&meaning)) return "unusable: " + unusable->why;
  return "ignored";
}

}  // namespace pennyweight::traps
