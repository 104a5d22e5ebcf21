// Telemetry of the ledger, handed to an allocation a day at a time.
#pragma once

#include <vector>

#include "allocate/seen.h"
#include "ledger/store.h"

namespace pennyweight {

// What a cluster's devices were seen to do. Cards are read one by one, so that of a day's samples
// only one card's are in memory beside the intervals that they become.
// REQUIRES: `store` outlives the source, and is not used while the source is asked.
SeenSource telemetry_of(Store& store, ClusterId cluster, std::vector<Gpu> gpus, UsageRules rules);

}  // namespace pennyweight
