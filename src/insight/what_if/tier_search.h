// search_tiers(): which mix of on-demand, spot and committed nodes is cheapest while jobs wait no
// longer than they may.
//
// What each tier costs, of what the bill says that a node costs (its price on demand):
//   committed   a percentage of it, all the time, for capacity worth so many nodes: as a savings
//               plan, it covers whatever runs at the moment, up to what is bought
//   on demand   all of it, while a job holds something of the node, and for `kept` afterwards
//   spot        a percentage of it, likewise; the provider takes such nodes back now and then
// Nodes are there at once when a job wants them: starting them takes no time here.
//
// What is chosen: how many nodes there may be, how many of them are spot, how much is committed.
// A commitment changes no replay, so each fleet is replayed once and every commitment is weighed
// for it. All fleets are tried where there are few; else a grid of them, which is then refined
// around the cheapest one. Deterministic, and never more than `tries_max` replays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/money.h"
#include "insight/what_if/figures.h"
#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

struct TierPrices {
  std::optional<std::uint32_t> committed_percent;  // nothing: none is bought
  std::optional<std::uint32_t> spot_percent;       // nothing: none is spot
  std::uint32_t reclaimed_per_hour = 0;            // of spot, in millionths
  std::int64_t kept_us = 0;
};

struct TierGoal {
  std::int64_t wait_p95_max_us = 0;
  std::string gpu_model = {};  // of the nodes that are chosen; empty: every node with GPUs
  TierPrices prices;
  std::uint32_t tries_max = 0;
};

struct TierPoint {
  std::uint32_t nodes = 0;      // at most, spot included
  std::uint32_t spot = 0;       // of these
  std::uint32_t committed = 0;  // how many average nodes the commitment is worth
  std::int64_t wait_p95_us = 0;
  std::uint64_t never_start = 0;
  Int128 unfinished = 0;  // as JobFigures
  std::uint64_t interruptions = 0;
  // In ticks.
  Int128 committed_cost = 0;
  Int128 on_demand_cost = 0;
  Int128 spot_cost = 0;
  bool is_enough = false;
  bool is_on_frontier = false;  // no other point costs less and waits no longer, or the reverse
  Int128 cost() const { return committed_cost + on_demand_cost + spot_cost; }
};

// The nodes that are chosen, in the order in which they would be kept.
struct TierNodes {
  std::vector<std::uint32_t> machines;  // numbers in the world
  std::vector<Int128> prices;           // of each in ticks, for the whole period
};

// Replays the world with the spot nodes.
using TierReplay =
    std::function<Result<replay::Replay>(const ReplayWorld& world, std::vector<bool> is_spot)>;

// A part of the period in which a node is paid for.
struct PaidSpan {
  std::int64_t begin_us;
  std::int64_t end_us;
};
// When each machine is paid for on demand: while a job holds something of it, and `kept_us`
// afterwards, within the period. Spans of a machine don't overlap, and are in order.
std::vector<std::vector<PaidSpan>> paid_spans(const ReplayWorld& world,
                                              const replay::Replay& replay, std::int64_t kept_us);

// By cost. REQUIRES: there are nodes. `never_start_max`: how many jobs may fit no node.
Result<std::vector<TierPoint>> search_tiers(const ReplayWorld& world, const TierNodes& nodes,
                                            const TierGoal& goal, std::uint64_t never_start_max,
                                            const TierReplay& replay);

}  // namespace pennyweight::what_if
