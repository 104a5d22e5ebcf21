// Corrections of a scope, as transfers.
#pragma once

#include <map>

#include "allocate/distribute.h"

namespace pennyweight {

// Adds to `out` the transfers and notes of input.corrections, and to `named` the owners in them.
void add_corrections(const DistributionInput& input, Distribution& out,
                     std::map<WorkloadId, Labels>& named);

}  // namespace pennyweight
