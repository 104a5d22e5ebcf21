// ScenarioFacts: a month's facts as they would have been, for the allocation engine to divide.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "insight/compare/policy_costs.h"
#include "insight/what_if/list_prices.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

struct ScenarioFacts {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<ListedPrice> prices;  // of the scenario's list prices
};

// The month with the scenario's fleet and prices. Holdings are as they were. List prices come
// first, and percentages are of them.
//
// A node that is taken away takes its charges with it; those with the last names go first. A node
// that is added has the charges of the first node that the change selects. Nodes that were not
// there in the period are not selected; a node is of the pool that it was in last. An Error where
// the change selects too few nodes, or nodes that are charged together as a pool: what one of them
// costs is then not known; kLimit where it would be beyond the limits of a scenario.
Result<ScenarioFacts> change_fleet(const ClusterMonth& month, const Interval& period,
                                   const Scenario& scenario, const StopCheck& is_stopped = {},
                                   const RateOn& rate_on = {});

// The jobs of new teams and repeated jobs, and then all times the scenario's demand;
// ReplayWorld::origins follow. Copies of job "a" are "a~2", "a~3", over all changes. kLimit, before
// any copy is made, where there would be over kReplayJobsMax.
Result<void> change_demand(ReplayWorld& world, const Scenario& scenario,
                           const StopCheck& is_stopped = {});

// Jobs of one whole GPU get the scenario's slices. Returns which slice each job has then, if any;
// shares of a GPU that the engine divides by. An Error where a slice changes no job.
// REQUIRES: `fleet` is the one that the world's machines are from.
Result<std::vector<std::optional<MigShare>>> change_slices(ReplayWorld& world,
                                                           const FleetView& fleet,
                                                           const Scenario& scenario);

// An Error where the replay might last longer than its clock counts, were all jobs to run one after
// the other.
Result<void> check_horizon(const ReplayWorld& world);

// kIo where somebody has stopped it.
Result<void> go_on(const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
