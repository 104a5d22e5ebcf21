// share_pools(): divides what the machines left among the holders that name only a pool.
//
// Narrower selectors come first. A selector takes from each of its node groups in proportion to
// what is free there at the instant; within a node group its holders are on every machine, in
// proportion to what the machine left to the pool at that instant (pool_fractions.h).
#pragma once

#include <span>

#include "allocation/occupancy.h"

namespace pennyweight {

// Adds what pools take to `occupancy`. REQUIRES: its machines are divided.
void share_pools(Occupancy& occupancy, std::span<const PlacedDemand> pool_demands,
                 const AllocationContext& context);

// A machine's GPU compute over the segment, whether anybody holds it or not.
Steps compute_present(const Occupancy& occupancy, const Fleet::Machine& machine);

}  // namespace pennyweight
