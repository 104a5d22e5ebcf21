// What workloads used of their hosts: processor time, and memory.
//
// It is kept as outcomes of the measures below, over the time in which it was used, and divides no
// cost. Two of them add up over time, and are spread evenly over it where it is cut:
//
//   cpu_used_core_ms    processor time, in milliseconds of one core
//   memory_used_kib_ms  memory in use, in KiB times milliseconds
//   memory_peak_kib     the most memory in use at a moment of the time; a part of the time has the
//                       same
//
// Kubernetes measures the first two while it happens (cAdvisor). Slurm, PBS, LSF and Grid Engine
// say when a job has ended how much processor time it took, and its highest memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/outcome.h"

namespace pennyweight {

inline constexpr std::string_view kHostCpuUsed = "cpu_used_core_ms";
inline constexpr std::string_view kHostMemoryUsed = "memory_used_kib_ms";
inline constexpr std::string_view kHostMemoryPeak = "memory_peak_kib";

bool is_measure_of_host_usage(std::string_view measure);

// Over a whole run of a job, as its scheduler says when it has ended.
struct HostUsage {
  std::optional<std::uint64_t> cpu_core_ms = {};
  std::optional<std::uint64_t> memory_kib_ms = {};
  std::optional<std::uint64_t> memory_peak_kib = {};

  bool empty() const { return !cpu_core_ms && !memory_kib_ms && !memory_peak_kib; }
};

// No outcome of host usage is longer, so that a day's are found by looking a day back.
inline constexpr std::chrono::hours kHostUsageMax{24};
// A longer run would be too many outcomes: its usage is not kept.
inline constexpr std::chrono::days kHostUsageRunMax{400};

// A run's usage, cut at midnight of UTC; the parts of a sum add up to it. Nothing for a run of more
// than kHostUsageRunMax.
std::vector<Outcome> host_usage_outcomes(const ClusterId& cluster, const WorkloadId& workload,
                                         const Interval& run, const HostUsage& usage);

}  // namespace pennyweight
