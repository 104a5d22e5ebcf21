// What a card cut by MIG is divided into: its instances, what is free, and what is stranded.
//
// Two 3g.20gb leave a seventh of an A100's compute that no further instance can use; it is paid for
// all the same, and is a matter of the layout, not of demand. The rule: of either axis, what the
// best legal layout that keeps these instances would use beside them is free; the rest of the card
// is stranded. Instances are taken to stand where they leave the most, since reports name their
// profiles and not their places. So making an instance out of what is free never frees what was
// stranded, and a card that could be filled has nothing stranded.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "fleet/gpu_model.h"

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
