// search_mig_layouts(): how to cut GPUs into MIG instances, and how many nodes of them, for the
// jobs that move to instances.
//
// Nodes that are cut have the same layout on each GPU, and are there for these jobs alone; the
// others stay whole, for all other jobs. A job takes the smallest free instance that is as large as
// the profile it asks for, on both axes; the CPUs and the memory of cut nodes limit nobody. Every
// legal layout of the model to which no instance can be added is tried, and for each the fewest
// nodes with which the jobs wait no longer than they may, found by halves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/mig_layout.h"
#include "insight/what_if/figures.h"
#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

struct MigGoal {
  std::int64_t wait_p95_max_us = 0;
  std::string gpu_model = {};  // empty: the fleet's one model with MIG
  std::uint32_t tries_max = 0;
};

struct MigPoint {
  std::string layout;             // "3g.20gb + 4 x 1g.5gb", the largest first
  std::uint32_t nodes = 0;        // that are cut
  std::uint64_t instances = 0;    // on all of them
  std::int64_t moved_p95_us = 0;  // of the jobs on instances
  std::int64_t all_p95_us = 0;    // of all jobs
  std::uint64_t never_start = 0;  // of all jobs
  Int128 cost = 0;                // of the nodes that are cut, in ticks
  bool is_enough = false;
  bool is_on_frontier = false;  // no other point costs less and waits no longer, or the reverse
};

// A job that moves to an instance.
struct MovedJob {
  std::uint32_t job = 0;  // number in the world
  MigInstanceSize size;   // that it needs at least
};

struct MigNodes {
  const GpuModel* model = nullptr;
  std::vector<std::uint32_t> machines;  // numbers in the world; the last are cut first
  std::vector<Int128> prices;           // of each in ticks, for the whole period
};

// Replays jobs on machines; `first_fit`: they take the first machine that fits.
using MigReplay = std::function<Result<replay::Replay>(const ReplayWorld& world, bool first_fit)>;

struct MigSearchResult {
  std::vector<MigPoint> points;     // by cost, then wait
  std::uint64_t layouts = 0;        // that hold all moved jobs
  std::uint64_t layouts_tried = 0;  // fewer: the tries were used up
};

// REQUIRES: there are nodes, and moved jobs. `never_start_max`: how many jobs may fit no node.
Result<MigSearchResult> search_mig_layouts(const ReplayWorld& world,
                                           const std::vector<MovedJob>& moved,
                                           const MigNodes& nodes, const MigGoal& goal,
                                           std::uint64_t never_start_max, const MigReplay& replay);

}  // namespace pennyweight::what_if
