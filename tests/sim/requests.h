// What holdings truly request of seats and nodes: the truth that the oracle starts from.
#pragma once

#include <vector>

#include "world.h"

namespace pennyweight::sim {

// For one job, or for all jobs that share a claim or a reservation. `first` is the index in
// World::holdings that the first of them will have. REQUIRES: the jobs are in the order of a run
// (held, workload, attempt, id).
std::vector<TrueRequest> true_requests(const World& world, const std::vector<Holding>& jobs,
                                       std::size_t first);

// Whether there is room even if everything that ever overlaps a request came at once.
bool fits(const World& world, const std::vector<TrueRequest>& requests);

}  // namespace pennyweight::sim
