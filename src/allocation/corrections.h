// Posts the corrections of a scope as transfers.
#pragma once

#include <map>

#include "allocation/distribute.h"

namespace pennyweight {

// Adds the transfers and notes of input.corrections to `out`, and their owners to `named`.
void add_corrections(const DistributionInput& input, Distribution& out,
                     std::map<WorkloadId, Labels>& named);

}  // namespace pennyweight
