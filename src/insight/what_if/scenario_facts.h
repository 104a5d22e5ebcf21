// ScenarioFacts: a month's facts as they would have been, for the allocation engine to divide.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

struct ScenarioFacts {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
};

// The month with the scenario's fleet and prices. Holdings are as they were.
//
// A node that is taken away takes its charges with it; those with the last names go first. A node
// that is added has the charges of the first node that the change selects. An Error where the
// change selects too few nodes, or nodes that are charged together as a pool: what one of them
// costs is then not known.
Result<ScenarioFacts> change_fleet(const ClusterMonth& month, const Scenario& scenario);

// The jobs of the world times the scenario's demand; ReplayWorld::origins follow.
void change_demand(ReplayWorld& world, const Scenario& scenario);

// Jobs of one whole GPU get the scenario's slices. Returns which slice each job has then, if any;
// shares of a GPU that the engine divides by. An Error where a slice changes no job.
// REQUIRES: `fleet` is the one that the world's machines are from.
Result<std::vector<std::optional<MigShare>>> change_slices(ReplayWorld& world,
                                                           const FleetView& fleet,
                                                           const Scenario& scenario);

}  // namespace pennyweight::what_if
