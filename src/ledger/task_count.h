// The label that says how many tasks a job had at once: in Slurm NTasks of the step that had most.
//
// Like kSubmitTimeLabel it is not content: a reading that has it and one that lacks it are one
// holding.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight {

inline constexpr std::string_view kTasksLabel = "ntasks";
inline constexpr std::uint64_t kTasksMax = std::uint64_t{1} << 32;

}  // namespace pennyweight
