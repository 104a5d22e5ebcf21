#include "ledger/usage.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace pennyweight {
namespace {

using Reading = std::pair<std::string_view, std::optional<std::uint64_t> Usage::*>;

// Every number that a usage can carry, in the order in which it is fingerprinted.
constexpr std::array<Reading, 7> kReadings = {{{"GPU util ppm", &Usage::gpu_util_ppm},
                                               {"engine active ppm", &Usage::engine_active_ppm},
                                               {"SM active ppm", &Usage::sm_active_ppm},
                                               {"memory used bytes", &Usage::memory_used_bytes},
                                               {"memory total bytes", &Usage::memory_total_bytes},
                                               {"power mW", &Usage::power_milliwatts},
                                               {"energy mJ", &Usage::energy_millijoules}}};

std::string text_of(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "absent";
}

}  // namespace

Hash128 natural_key(const Usage& usage) {
  return Fingerprint()
      .add("usage")
      .add(usage.cluster.text())
      .add(usage.gpu.text())
      .add(usage.mig_instance)
      .add(usage.workload.text())
      .add(unix_ms(usage.at))
      .hash();
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
  print.add(std::int64_t{usage.of_workload});
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
