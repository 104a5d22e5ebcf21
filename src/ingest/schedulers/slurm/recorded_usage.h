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

// TRESUsageInTot of a step: "cpu=00:00:01,mem=3096K": the most that each of its tasks had, summed,
// in KiB. 0: not known.
std::uint64_t step_peak_kib(std::string_view tres_usage_in_tot);
// The same from MaxRSS, the most that any of its tasks had, and NTasks: as much as they can have
// had at most.
std::uint64_t step_peak_kib(std::string_view max_rss, std::string_view tasks);
std::uint64_t checked_peak_kib(std::uint64_t bytes, std::uint64_t tasks);

}  // namespace pennyweight::slurm
