#include "ledger/activity_scan.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/store.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kFullScalePpm = 1'000'000;

std::uint32_t ppm_of(const std::optional<std::uint64_t>& share) {
  return share ? static_cast<std::uint32_t>(*share) : ActivitySample::kAbsent;
}

}  // namespace

bool is_beyond_scale(const Usage& usage) {
  for (const auto& share :
       {usage.sm_active_ppm, usage.engine_active_ppm, usage.gpu_util_ppm, usage.dram_active_ppm}) {
    if (share && *share > kFullScalePpm) return true;
  }
  return usage.memory_used_bytes && usage.memory_total_bytes &&
         *usage.memory_used_bytes > *usage.memory_total_bytes;
}

ActivitySample to_activity_sample(const Usage& usage, std::uint32_t series) {
  ActivitySample sample;
  sample.at = usage.at;
  sample.part = usage.part;
  sample.series = series;
  sample.span_ms = usage.span_ms & ((1u << 30) - 1);
  if (is_beyond_scale(usage)) {
    sample.is_impossible = 1;
    return sample;
  }
  sample.has_power = usage.power_milliwatts.has_value() ? 1 : 0;
  if (usage.memory_used_bytes) {
    sample.memory_bytes =
        std::max(*usage.memory_used_bytes, usage.memory_used_max_bytes.value_or(0));
  }
  sample.sm_ppm = ppm_of(usage.sm_active_ppm);
  sample.engine_ppm = ppm_of(usage.engine_active_ppm);
  sample.util_ppm = ppm_of(usage.gpu_util_ppm);
  sample.dram_ppm = ppm_of(usage.dram_active_ppm);
  return sample;
}

Result<void> scan_activity(Store& store, const ClusterId& cluster, const Interval& during,
                           const ActivitySink& sink) {
  if (auto* scanner = dynamic_cast<ActivityScanner*>(&store)) {
    return scanner->scan_activity(cluster, during, sink);
  }
  std::vector<ActivitySeries> series;
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, std::uint32_t>
      numbers;
  std::uint32_t number = 0;
  std::vector<ActivitySample> samples;
  return store.scan_usage(cluster, during, UsageDetail::kAll, [&](std::span<const Usage> usages) {
    samples.clear();
    for (const Usage& usage : usages) {
      const ActivitySeries here{usage.gpu, usage.mig_instance, usage.workload, usage.node,
                                usage.of_workload};
      if (series.empty() || series[number] != here) {
        const auto [at, is_new] =
            numbers.try_emplace({here.gpu.text(), here.mig_instance, here.workload.text(),
                                 here.node.text(), here.of_workload},
                                static_cast<std::uint32_t>(series.size()));
        if (is_new) series.push_back(here);
        number = at->second;
      }
      samples.push_back(to_activity_sample(usage, number));
    }
    return sink(series, samples);
  });
}

Result<bool> has_usage_after(Store& store, const ClusterId& cluster, const Interval& during,
                             std::uint64_t import) {
  if (auto* scanner = dynamic_cast<ActivityScanner*>(&store)) {
    return scanner->has_usage_after(cluster, during, import);
  }
  const auto imports = TRY(store.imports());
  return std::ranges::any_of(
      imports, [&](const ImportRecord& each) { return each.number > import && each.usages > 0; });
}

}  // namespace pennyweight
