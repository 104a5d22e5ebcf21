// MigPlan: into which instances to cut the GPUs of a pool, so that few GPUs hold all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight::advising {

struct MigCards {
  std::vector<std::string> profiles;  // of one GPU, the largest first
  std::uint64_t count = 0;            // GPUs cut like this
  std::uint32_t free_compute_slices = 0;
  std::uint32_t free_memory_slices = 0;
};

struct MigPlan {
  std::vector<MigCards> layouts;  // those of the most GPUs first
  std::uint64_t gpus = 0;
};

// The fewest GPUs that hold so many instances of each profile, in any spelling of
// find_mig_profile(). Exact up to kMigExactStates; of larger demands, GPUs that are filled without
// rest come first and the exact search has what remains. An Error names a profile that the model
// does not have.
Result<MigPlan> plan_mig_layouts(const GpuModel& model,
                                 const std::map<std::string, std::uint64_t>& demand);

// Sub-demands that the exact search looks at, at most.
inline constexpr std::uint64_t kMigExactStates = 4000;

// A file of nvidia-mig-parted, which the GPU operator's MIG manager reads as well.
struct MigFile {
  std::string text;
  // Its configurations, and how many nodes take each.
  std::vector<std::pair<std::string, std::uint64_t>> nodes;
};

// GPUs that the plan does not need have MIG switched off. REQUIRES: gpus_per_node > 0.
MigFile mig_parted_file(const MigPlan& plan, std::uint64_t gpus_per_node);

}  // namespace pennyweight::advising
