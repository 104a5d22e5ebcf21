// Divides a GPU with MIG into its instances, what is free, and what is stranded.
//
// Two 3g.20gb leave a seventh of an A100's compute that no further instance can use. It is paid for
// all the same, because of the layout and not for lack of demand. The rule, for compute and for
// memory: free is what the best legal layout that keeps these instances would use beside them; the
// rest of the GPU is stranded. Instances are assumed to be placed where they leave the most, since
// reports name their profiles and not their placements. So creating an instance from what is free
// never frees what was stranded, and a GPU that can be filled has nothing stranded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight {

struct MigLayout {
  std::vector<MigShare> instances;  // in the order given
  MigShare stranded;
  MigShare free;
};

// Profiles in any spelling of find_mig_share. Compute instances ("1c.3g.20gb") fill as few GPU
// instances as hold them, and what these have left is free.
// ENSURES: instances, stranded and free add up to the whole card on both axes. An error names the
// model and the profile that it does not have, or the instances that do not fit on it together.
Result<MigLayout> mig_layout(const GpuModel& model, std::span<const std::string> profiles);

}  // namespace pennyweight
