// What telemetry saw workloads use of the GPUs that they held in a month, as the current runs have
// it.
#pragma once

#include <map>
#include <string>

#include "core/error.h"
#include "core/id.h"
#include "insight/what_if/replay_world.h"
#include "ledger/store.h"

namespace pennyweight {

using MeasuredUses = std::map<WorkloadId, what_if::MeasuredUse>;

// By workload of the cluster; those that telemetry did not see are left out. Use is that of
// compute, as in the idle GPU-hours of reports. Empty where nothing was measured, or the month is
// not allocated. Overhead counts as not seen: its idle time is not told apart.
Result<MeasuredUses> measured_uses(Store& store, const std::string& month,
                                   const ClusterId& cluster);

}  // namespace pennyweight
