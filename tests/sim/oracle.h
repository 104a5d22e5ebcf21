// The oracle: what every posting must be, worked out the slow and obvious way.
//
// It knows the truth of a world (who asked for what of which card, which line is for which node)
// and the formula of docs/ARCHITECTURE.md, and shares with the engine only core's split(), which
// has tests of its own, and the price split of a node (pricing/node_split.h, likewise).
#pragma once

#include <vector>

#include "ledger/posting.h"
#include "world.h"

namespace pennyweight::sim {

// The holdings of a cluster in the order in which the last tick is given out.
std::vector<std::size_t> holder_order(const World& world, const ClusterId& cluster);

// Whether a line tells the GPU time of its node: the dearest plain one at that time, of equals the
// first.
bool tells_time(const World& world, const BillLine& line);

// The postings of one bill line, in the engine's order.
// REQUIRES: the line is not for a pool. Where the cluster has holders in a pool, only the weights
// and times of holders on nodes and cards mean anything, since the others are not laid out here.
std::vector<Posting> expected_postings(const World& world, const BillLine& line);

}  // namespace pennyweight::sim
