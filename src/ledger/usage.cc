#include "ledger/usage.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace pennyweight {
namespace {

using Reading = std::pair<std::string_view, std::optional<std::uint64_t> Usage::*>;

// Every number that a usage can carry, in the order in which it is fingerprinted.
constexpr std::array<Reading, 22> kReadings = {
    {{"GPU util ppm", &Usage::gpu_util_ppm},
     {"engine active ppm", &Usage::engine_active_ppm},
     {"SM active ppm", &Usage::sm_active_ppm},
     {"memory used bytes", &Usage::memory_used_bytes},
     {"memory total bytes", &Usage::memory_total_bytes},
     {"power mW", &Usage::power_milliwatts},
     {"energy mJ", &Usage::energy_millijoules},
     {"tensor active ppm", &Usage::tensor_active_ppm},
     {"DRAM active ppm", &Usage::dram_active_ppm},
     {"memory reserved bytes", &Usage::memory_reserved_bytes},
     {"temperature C", &Usage::temperature_celsius},
     {"SM clock MHz", &Usage::sm_clock_mhz},
     {"PCIe bytes per second", &Usage::pcie_bytes_per_second},
     {"NVLink bytes per second", &Usage::nvlink_bytes_per_second},
     {"energy used mJ", &Usage::energy_used_millijoules},
     {"activity max ppm", &Usage::activity_max_ppm},
     {"memory used max bytes", &Usage::memory_used_max_bytes},
     {"power max mW", &Usage::power_max_milliwatts},
     {"throttled ms", &Usage::throttled_ms},
     {"XID errors", &Usage::xid_errors},
     {"last XID", &Usage::last_xid},
     {"ECC errors", &Usage::ecc_errors}}};

std::string text_of(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "absent";
}

}  // namespace

Usage shares_of(const Usage& usage) {
  Usage shares = {.cluster = usage.cluster,
                  .node = usage.node,
                  .gpu = usage.gpu,
                  .mig_instance = usage.mig_instance,
                  .mig_profile = usage.mig_profile,
                  .model = usage.model,
                  .at = usage.at,
                  .gpu_util_ppm = usage.gpu_util_ppm,
                  .engine_active_ppm = usage.engine_active_ppm,
                  .sm_active_ppm = usage.sm_active_ppm,
                  .memory_used_bytes = usage.memory_used_bytes,
                  .memory_total_bytes = usage.memory_total_bytes,
                  .power_milliwatts = {},
                  .energy_millijoules = {},
                  .workload = usage.workload,
                  .id = usage.id,
                  .source = usage.source};
  shares.of_workload = usage.of_workload;
  shares.span_ms = usage.span_ms;
  shares.part = usage.part;
  return shares;
}

Hash128 natural_key(const Usage& usage) {
  Fingerprint print;
  print.add("usage")
      .add(usage.cluster.text())
      .add(usage.gpu.text())
      .add(usage.mig_instance)
      .add(usage.workload.text())
      .add(unix_ms(usage.at));
  if (usage.span_ms > 0) {
    print.add(std::int64_t{usage.span_ms}).add(static_cast<std::int64_t>(usage.part));
  }
  return print.hash();
}

Hash128 content_hash(const Usage& usage) {
  Fingerprint print;
  print.add(usage.cluster.text())
      .add(usage.node.text())
      .add(usage.gpu.text())
      .add(usage.mig_instance)
      .add(usage.mig_profile)
      .add(usage.model)
      .add(usage.workload.text())
      .add(unix_ms(usage.at));
  for (const auto& [name, field] : kReadings) print.add(usage.*field);
  print.add(std::int64_t{usage.of_workload}).add(std::int64_t{usage.span_ms});
  print.add(static_cast<std::int64_t>(usage.part));
  return print.hash();
}

std::string difference(const Usage& there, const Usage& here) {
  std::string text;
  const auto note = [&](std::string_view what, std::string_view was, std::string_view is) {
    text += fmt::format("{}{} {} there, {} here", text.empty() ? "" : "; ", what, was, is);
  };
  for (const auto& [name, field] : kReadings) {
    if (there.*field != here.*field) note(name, text_of(there.*field), text_of(here.*field));
  }
  if (there.of_workload != here.of_workload) {
    note("whose values", there.of_workload ? "the workload's" : "the device's",
         here.of_workload ? "the workload's" : "the device's");
  }
  if (there.node != here.node) note("node", there.node.text(), here.node.text());
  if (there.model != here.model) note("model", there.model, here.model);
  if (there.mig_profile != here.mig_profile) note("profile", there.mig_profile, here.mig_profile);
  return text;
}

}  // namespace pennyweight
