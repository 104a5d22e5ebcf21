// Provides a cluster's telemetry from the ledger to an allocation, one day at a time.
#pragma once

#include <vector>

#include "allocation/utilization.h"
#include "ledger/store.h"

namespace pennyweight {

// What a cluster's devices were seen to do. Cards are read one by one, so that of a day's samples
// only one card's are in memory beside the intervals that they become.
// REQUIRES: `store` outlives the source, and is not used while the source is asked.
UtilizationSource telemetry_source(Store& store, ClusterId cluster, std::vector<Gpu> gpus,
                                   UsageRules rules);

}  // namespace pennyweight
