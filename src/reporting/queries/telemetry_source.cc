#include "reporting/queries/telemetry_source.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

namespace pennyweight {
namespace {

using GpusByUuid = std::map<GpuId, std::vector<Gpu>>;

// The samples of one batch, card by card: what one card says depends on no other.
void add(ObservedUtilization& all, std::span<const Usage> batch, const GpusByUuid& gpus,
         const UsageRules& rules, const Interval& during) {
  for (std::size_t begin = 0; begin < batch.size();) {
    std::size_t end = begin;
    while (end < batch.size() && batch[end].gpu == batch[begin].gpu) ++end;
    const auto card = gpus.find(batch[begin].gpu);
    ObservedUtilization one = to_intervals(
        batch.subspan(begin, end - begin),
        card == gpus.end() ? std::span<const Gpu>() : std::span<const Gpu>(card->second), rules,
        during);
    std::move(one.series.begin(), one.series.end(), std::back_inserter(all.series));
    std::move(one.placed.begin(), one.placed.end(), std::back_inserter(all.placed));
    all.samples += one.samples;
    all.clamped += one.clamped;
    all.unreliable += one.unreliable;
    all.copies += one.copies;
    begin = end;
  }
}

}  // namespace

UtilizationSource telemetry_source(Store& store, ClusterId cluster, std::vector<Gpu> gpus,
                                   UsageRules rules) {
  const auto by_uuid = std::make_shared<GpusByUuid>();  // a function is copied; this is not
  for (Gpu& gpu : gpus) (*by_uuid)[gpu.uuid].push_back(std::move(gpu));
  return [&store, cluster = std::move(cluster), by_uuid,
          rules = std::move(rules)](const Interval& during) -> Result<ObservedUtilization> {
    // A sample before the day may hold into it, and clocks may be shifted.
    const std::chrono::milliseconds shift(rules.shift_ms);
    const std::chrono::milliseconds before(std::max(rules.hold_ms(), kUsageSpanMaxMs));
    const Interval wider(during.begin() - before - shift, during.end() - shift);
    ObservedUtilization all{.during = during, .series = {}, .placed = {}};
    const auto scanned =
        store.scan_usage(cluster, wider, UsageDetail::kShares, [&](std::span<const Usage> batch) {
          add(all, batch, *by_uuid, rules, during);
          return true;
        });
    if (!scanned) return std::unexpected(scanned.error().during("cannot read telemetry"));
    std::sort(all.series.begin(), all.series.end(),
              [](const UtilizationSeries& a, const UtilizationSeries& b) {
                return std::tie(a.device, a.workload) < std::tie(b.device, b.workload);
              });
    std::sort(all.placed.begin(), all.placed.end());
    return all;
  };
}

}  // namespace pennyweight
