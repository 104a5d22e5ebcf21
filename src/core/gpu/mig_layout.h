// Divides a GPU with MIG into its instances, what is free, and what is stranded.
//
// Two 3g.20gb leave a seventh of an A100's compute that no further instance can use. It is paid for
// all the same, because of the layout and not for lack of demand. The rule, for compute and for
// memory: free is what the best legal layout that keeps these instances would use beside them; the
// rest of the GPU is stranded. Instances are assumed to be placed where they leave the most, since
// reports name their profiles and not their placements. So creating an instance from what is free
// never frees what was stranded, and a GPU that can be filled has nothing stranded.
#pragma once

#include <compare>
#include <cstdint>
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

// The size of an instance. What a GPU can hold depends on the sizes of its instances alone.
struct MigInstanceSize {
  std::uint32_t compute_slices = 0;
  std::uint32_t memory_slices = 0;
  auto operator<=>(const MigInstanceSize&) const = default;
};

struct MigLayouts {
  std::vector<MigInstanceSize> sizes;
  // Every set of instances that has a placement, the empty one too: how many of each size.
  std::vector<std::vector<std::uint32_t>> legal;
};

// Computed once and never changed. REQUIRES: the model has MIG.
const MigLayouts& legal_mig_layouts(const GpuModel& model);

}  // namespace pennyweight
