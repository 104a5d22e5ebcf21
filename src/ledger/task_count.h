// The label that says how many tasks a job had at once: in Slurm NTasks of the step that had most.
//
// Like kSubmitTimeLabel it is not content: a reading that has it and one that lacks it are one
// holding. Its name can be a key neither of Kubernetes nor of Slurm's comments, so that no user
// states it, and no holding of an earlier version has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight {

inline constexpr std::string_view kTasksLabel = "slurm:ntasks";
inline constexpr std::uint64_t kTasksMax = std::uint64_t{1} << 32;

}  // namespace pennyweight
