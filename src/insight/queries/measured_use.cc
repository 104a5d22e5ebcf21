#include "insight/queries/measured_use.h"

#include <algorithm>
#include <span>

#include "core/try.h"

namespace pennyweight {

Result<MeasuredUses> measured_uses(Store& store, const std::string& month,
                                   const ClusterId& cluster) {
  struct Times {
    GpuTime held, seen, idle;
  };
  std::map<std::string, Times> times;
  bool is_any_seen = false;
  TRY(store.scan_summary({.group_by = {"workload", "kind"},
                          .filters = {{.dimension = "month", .values = {month}},
                                      {.dimension = "cluster", .values = {cluster.text()}},
                                      {.dimension = "kind", .values = {"used", "held_idle"}}}},
                         [&](std::span<const SummaryRow> rows) {
                           for (const SummaryRow& row : rows) {
                             if (row.keys[0].empty()) continue;
                             Times& of = times[row.keys[0]];
                             of.held += row.gpu_time;
                             of.seen += row.observed_time;
                             if (row.keys[1] == "held_idle") of.idle += row.gpu_time;
                             is_any_seen = is_any_seen || row.observed_time != GpuTime();
                           }
                           return true;
                         }));
  MeasuredUses uses;
  if (!is_any_seen) return uses;
  const auto ppm_of = [](GpuTime part, GpuTime whole) {
    constexpr UInt128 kMillion = 1'000'000;
    const UInt128 ppm = multiply_divide(part.count(), kMillion, whole.count()).quotient;
    return static_cast<std::uint32_t>(std::min(ppm, kMillion));
  };
  for (const auto& [workload, of] : times) {
    if (of.seen == GpuTime()) continue;
    const GpuTime used = of.idle < of.seen ? of.seen - of.idle : GpuTime();
    uses.emplace(WorkloadId(workload), what_if::MeasuredUse{.seen_ppm = ppm_of(of.seen, of.held),
                                                            .used_ppm = ppm_of(used, of.held)});
  }
  return uses;
}

}  // namespace pennyweight
