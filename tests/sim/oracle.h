// The oracle: computes what every posting must be, in the slow and obvious way.
//
// It knows the truth of a world (who requested what of which GPU, which charge is for which node)
// and the formula of docs/ARCHITECTURE.md. It shares only two things with the engine, both of which
// have tests of their own: core's split() and the price split of a node
// (allocation/pricing/node_split.h).
#pragma once

#include <vector>

#include "ledger/posting.h"
#include "world.h"

namespace pennyweight::sim {

// The holdings of a cluster in the order in which the last units are given out.
std::vector<std::size_t> holder_order(const World& world, const ClusterId& cluster);

// Whether a charge reports the GPU time of its node: the most expensive plain charge at that time,
// the first among equals.
bool reports_time(const World& world, const BillLine& line);

// The postings of one charge, in the engine's order. REQUIRES: the charge is not for a pool. Where
// the cluster has holders in a pool, only the weights and times of holders on nodes and GPUs are
// meaningful, since the oracle does not lay out the others.
std::vector<Posting> expected_postings(const World& world, const BillLine& line);

}  // namespace pennyweight::sim
