#include "ledger/host_usage.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/int128.h"

namespace pennyweight {
namespace {

// How much of a sum has come together after a part of the run.
std::uint64_t sum_until(std::uint64_t sum, std::uint64_t part_ms, std::uint64_t whole_ms) {
  return static_cast<std::uint64_t>(multiply_divide(sum, part_ms, whole_ms).quotient);
}

}  // namespace

bool is_measure_of_host_usage(std::string_view measure) {
  return measure == kHostCpuUsed || measure == kHostMemoryUsed || measure == kHostMemoryPeak;
}

std::vector<Outcome> host_usage_outcomes(const ClusterId& cluster, const WorkloadId& workload,
                                         const Interval& run, const HostUsage& usage) {
  std::vector<Outcome> outcomes;
  if (usage.empty() || run.end() - run.begin() > kHostUsageRunMax) return outcomes;
  const std::uint64_t whole_ms = run.length_ms();
  for (Instant begin = run.begin(); begin < run.end();) {
    const Instant midnight = std::chrono::floor<std::chrono::days>(begin) + std::chrono::days(1);
    const Interval part(begin, std::min(midnight, run.end()));
    const auto done_ms = static_cast<std::uint64_t>((part.begin() - run.begin()).count());
    const auto add = [&](std::string_view measure, std::uint64_t count) {
      outcomes.emplace_back(cluster, workload, std::string(measure), part, count);
    };
    const auto add_part_of = [&](std::string_view measure, std::optional<std::uint64_t> sum) {
      if (!sum) return;
      add(measure, sum_until(*sum, done_ms + part.length_ms(), whole_ms) -
                       sum_until(*sum, done_ms, whole_ms));
    };
    add_part_of(kHostCpuUsed, usage.cpu_core_ms);
    add_part_of(kHostMemoryUsed, usage.memory_kib_ms);
    if (usage.memory_peak_kib) add(kHostMemoryPeak, *usage.memory_peak_kib);
    begin = part.end();
  }
  return outcomes;
}

}  // namespace pennyweight
