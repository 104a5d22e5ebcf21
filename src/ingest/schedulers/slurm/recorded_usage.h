// What Slurm recorded of the processor time and memory that a job used, from either form of sacct.
//
// Slurm writes 0 where it did not gather them. A job that ran took more than none of both, so 0 is
// not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pennyweight::slurm {

// TotalCPU, in milliseconds; sacct prints whole seconds from an hour on, and so both forms agree.
std::optional<std::uint64_t> used_cpu_ms(std::uint64_t milliseconds);

// What sacct prints of a step.
struct StepUsage {
  std::string_view tres_usage_in_tot;  // "cpu=00:00:01,mem=3096K": that of all its tasks, summed
  std::string_view max_rss;            // the most that any of its tasks had
  std::string_view tasks;
};
// The most that each of its tasks had, summed, in KiB. 0: Slurm did not gather it. Nothing: of
// several tasks only the largest is told, so that exports with more columns would say otherwise.
std::optional<std::uint64_t> step_peak_kib(const StepUsage& step);
std::uint64_t checked_peak_kib(std::uint64_t bytes, std::uint64_t tasks);

// NTasks of a step; nothing where it is no number of tasks.
std::optional<std::uint64_t> checked_tasks(std::string_view text);

}  // namespace pennyweight::slurm
