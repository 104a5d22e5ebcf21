// missing_times(): when a holding goes on although no fact has the GPU or the MIG instance that it
// names, while a fact has it at another time of the holding.
//
// A driver refuses to destroy an instance that is in use, and nobody takes a GPU out of a machine
// under a job. So a layout that drops an instance in mid-job, or an inventory that begins after the
// job, is contradicted by the job's record, and one of their times is wrong. The job ran on
// something of that size on that machine in any case, so it pays for it until it ends.
#pragma once

#include <cstdint>
#include <vector>

#include "allocation/fleet_index.h"
#include "core/instant.h"
#include "ledger/node.h"

namespace pennyweight {

struct MissingTime {
  std::uint32_t card;  // the fact before, of those that the holding meets; else the one after
  Interval during;     // within `held`
};

// By begin; empty where facts have it all the time, or at no time of the holding.
std::vector<MissingTime> missing_times(const Fleet& fleet, const GpuId& named,
                                       const Interval& held);

}  // namespace pennyweight
