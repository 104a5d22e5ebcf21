// Node pools: which nodes a scenario starts and stops, and what is charged for them then.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "insight/compare/policy_costs.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario.h"
#include "ledger/charge.h"

namespace pennyweight::what_if {

// The pools of the scenario, on the world's machines with GPUs; those that hold what no replay
// moves are in none. An Error where a pool has no node, fewer than are to be always on, or one that
// is in another pool. REQUIRES: `fleet` is the one that the world's machines are from.
// `is_tried`: a search tries this fleet, in which all nodes of a pool may be always on.
Result<std::vector<replay::NodePool>> node_pools(const ReplayWorld& world, const FleetView& fleet,
                                                 const Scenario& scenario, bool is_tried);

struct PoweredCharges {
  std::vector<Charge> charges;
  // Of nodes of pools, that don't go by time: fees, taxes, credits, what a commitment covers, and
  // what reaches out of the period. They stay whole.
  std::uint64_t kept_whole = 0;
  // Nodes that were on when the month's bill did not charge them: they cost then what they cost by
  // the hour on average, of what goes by time.
  std::uint64_t at_average = 0;
};
// The charges with those of nodes of pools cut to the times at which the node was on: each part has
// its share of the cost by time, and the share of the time at which it was off is not charged.
// kUnsupported where nodes of a pool are charged together with others, or where one that was on is
// charged nothing that goes by time: what one of them costs is then not known.
Result<PoweredCharges> charges_while_on(std::vector<Charge> charges, const ReplayWorld& world,
                                        const FleetView& fleet, const replay::Replay& replay,
                                        const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
