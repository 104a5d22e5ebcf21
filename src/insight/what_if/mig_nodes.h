// MIG layouts of nodes by the hour: which nodes of a scenario are cut into instances when, and
// which jobs run on them.
#pragma once

#include <optional>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "insight/compare/fleet_view.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

// Cuts the scenario's nodes: those with the last names that fit the change. Jobs whose slice is
// such an instance run on nodes that are cut so and nowhere else, and all other jobs that hold GPUs
// on nodes that are whole. A node that is cut in a part of the day only is a further machine of the
// world, the last ones, and among ReplayWorld::layouts.
// `slices`: what change_slices() returned. An Error where a change selects too few nodes, or no job
// has such a slice. REQUIRES: `fleet` is the one that the world's machines are from.
Result<void> cut_nodes(ReplayWorld& world, const FleetView& fleet, const Scenario& scenario,
                       const std::vector<std::optional<MigShare>>& slices);

}  // namespace pennyweight::what_if
