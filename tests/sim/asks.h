// What holdings truly ask of seats and nodes: the truth that the oracle starts from.
#pragma once

#include <vector>

#include "world.h"

namespace pennyweight::sim {

// Of jobs that share a claim or a reservation, or of one by itself. `first` is the place in
// World::holdings that the first of them will have.
// REQUIRES: the jobs in the order of a run (held, workload, attempt, id).
std::vector<Ask> asks_of(const World& world, const std::vector<Holding>& jobs, std::size_t first);

// Whether there is room even if everything that overlaps an ask at any time came together.
bool fits(const World& world, const std::vector<Ask>& asks);

}  // namespace pennyweight::sim
