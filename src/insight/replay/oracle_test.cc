// The simulator against two oracles. SmallOracle is one page of plain rules; Oracle has all further
// ones beside it. On small worlds both must agree with the simulator on every run of every job:
// when, where, on which GPUs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "insight/replay/oracle_testing.h"
#include "insight/replay/simulate.h"
#include "insight/replay/small_oracle_testing.h"

namespace pennyweight::replay {
namespace {

std::vector<OracleRun> runs_of(const Replay& replay) {
  std::vector<OracleRun> runs;
  for (const JobRun& run : replay.runs) {
    std::vector<OracleShare> shares;
    for (const Share& share : run.shares) {
      shares.emplace_back(share.machine, share.gpu_mask, share.gpu_milli);
    }
    runs.emplace_back(run.end_us, run.job, run.begin_us, run.restart_us, shares);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::uint32_t number(std::uint32_t from, std::uint32_t to) {
  return *rc::gen::resize(100, rc::gen::inRange(from, to + 1));
}

// Each machine is in the first pool, in the second, or always on.
void add_pools(SmallWorld& world) {
  for (int i = 0; i < 2; ++i) {
    world.pools.push_back(
        {.machines = {}, .least = 0, .start_us = number(0, 5), .kept_us = number(1, 5)});
  }
  for (std::uint32_t machine = 0; machine < world.machines.size(); ++machine) {
    const std::uint32_t pool = number(0, 2);
    if (pool < 2) world.pools[pool].machines.push_back(machine);
  }
  for (NodePool& pool : world.pools) {
    pool.least = number(0, static_cast<std::uint32_t>(pool.machines.size()));
  }
}

// Machines of model 2 and 3 are another place, to which every second job may go.
void add_places(SmallWorld& world) {
  world.spill_over = {.after_us = number(0, 10), .places = {{4 | 8}, {4, 8}}};
  for (Machine& machine : world.machines) machine.model += 2 * number(0, 1);
  for (Job& job : world.jobs) {
    if (job.request.models == 0) job.request.models = 3;
    job.elsewhere = number(0, 2);
  }
}

// Each machine is taken back up to twice.
void add_reclaims(SmallWorld& world) {
  world.spot.checkpoint_every_us = number(0, 4);
  for (std::uint32_t machine = 0; machine < world.machines.size(); ++machine) {
    std::int64_t at = 0;
    for (std::uint32_t i = number(0, 2); i > 0; --i) {
      const Reclaim& one = world.spot.planned.emplace_back(
          Reclaim{at + number(0, 12), machine, number(0, 8), number(0, 1) == 0});
      at = one.at_us + one.away_us + 1;
    }
  }
}

// Some machines are cut from some moment on, or until then, and jobs of a part of a GPU may be for
// cut ones only.
void add_layouts(SmallWorld& world) {
  constexpr std::uint32_t kCutModel = 5;
  world.policy.admission.begin_of_day_us = 600 * std::int64_t{60'000'000} - number(1, 30);
  const std::size_t machines = world.machines.size();
  for (std::uint32_t machine = 0; machine < machines; ++machine) {
    if (world.machines[machine].gpus == 0 || number(0, 1) == 0) continue;
    world.layouts.push_back(
        {.whole = machine,
         .cut = static_cast<std::uint32_t>(world.machines.size()),
         .window = number(0, 1) == 0 ? DailyWindow{600, 700} : DailyWindow{500, 600}});
    Machine cut = world.machines[machine];
    cut.model = kCutModel;
    world.machines.push_back(cut);
  }
  for (Job& job : world.jobs) {
    if (job.request.gpu_milli > 0 && number(0, 1) == 0) job.request.models = 1u << kCutModel;
  }
}

SmallWorld world_of_any_rules() {
  SmallWorld world;
  const std::uint32_t machines = number(1, 4);
  for (std::uint32_t i = 0; i < machines; ++i) {
    world.machines.push_back({.model = number(0, 1),
                              .gpus = number(0, 4),
                              .cpu_milli = 1000 * number(2, 8),
                              .memory_mib = 1024 * number(4, 8),
                              .rack = number(0, 1)});
  }
  const std::uint32_t jobs = number(1, 8);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    Job& job = world.jobs.emplace_back();
    job.team = std::string(1, static_cast<char>('a' + number(0, 2)));
    job.submit_us = number(0, 12);
    job.work_us = number(1, 15);
    if (number(0, 2) == 0) job.estimate_us = number(1, 20);
    job.restart_us = number(0, 3);
    job.priority = number(0, 2);
    switch (number(0, 5)) {
      case 0:
        job.request.gpu_milli = 100 * number(1, 9);
        break;
      case 1:
        break;
      case 2:
        job.request.gpus = number(4, 9);
        break;
      default:
        job.request.gpus = number(1, 4);
    }
    job.request.cpu_milli = 500 * number(0, 4);
    job.request.memory_mib = 512 * number(0, 4);
    if (number(0, 3) == 0) job.request.models = number(1, 3);
  }
  constexpr QueueOrder kOrders[] = {QueueOrder::kFirstComeFirstServed,
                                    QueueOrder::kPriority,
                                    QueueOrder::kShortestJob,
                                    QueueOrder::kShortestRemaining,
                                    QueueOrder::kShortestRemainingWork,
                                    QueueOrder::kMaxMinFair,
                                    QueueOrder::kDecayedFairShare,
                                    QueueOrder::kDominantResourceFair,
                                    QueueOrder::kProportion};
  constexpr PlacementRule kRules[] = {PlacementRule::kFirstFit, PlacementRule::kBestFit,
                                      PlacementRule::kWorstFit, PlacementRule::kGpuClustering,
                                      PlacementRule::kLeastFragmentation};
  world.policy.order = kOrders[number(0, 8)];
  world.policy.half_life_us = 64 * number(1, 12);
  world.policy.when_blocked = static_cast<WhenBlocked>(number(0, 2));
  world.policy.placement = kRules[number(0, 4)];
  world.policy.preempts = !is_fair(world.policy.order) && number(0, 1) == 0;
  world.policy.team_weights = {{"b", 2}};
  world.policy.same_rack = number(0, 3) == 0;
  if (world.policy.preempts) return world;
  if (number(0, 3) == 0) world.policy.starvation_guard_us = number(1, 12);
  if (number(0, 2) == 0) world.policy.depth = number(1, 3);
  AdmissionRules& admission = world.policy.admission;
  if (number(0, 2) == 0) {
    admission.quotas["a"] = {.milli_gpus = 1000 * number(0, 4)};
    admission.quotas["b"] = {.milli_gpus = 1000 * number(0, 4),
                             .borrowed_milli_max = 1000 * number(0, 3)};
  }
  if (number(0, 2) == 0) {
    // Opens in the course of the world.
    admission.windows["a"] = {.from_minute = 600, .to_minute = 700};
    admission.begin_of_day_us = 600 * std::int64_t{60'000'000} - number(1, 30);
  }
  if (admission.windows.empty() && number(0, 2) == 0) {
    add_layouts(world);
    return world;
  }
  if (!world.policy.same_rack && number(0, 2) == 0) add_pools(world);
  if (number(0, 2) == 0) add_places(world);
  if (number(0, 2) == 0) add_reclaims(world);
  return world;
}

// Clustering looks at who runs where, which the oracle knows of the present alone: not of what a
// reservation, a preemption or an autoscaler looks at.
SmallWorld any_world() {
  SmallWorld world = world_of_any_rules();
  const bool looks_ahead = world.policy.preempts || !world.pools.empty() ||
                           world.policy.when_blocked == WhenBlocked::kBackfill;
  if (world.policy.placement == PlacementRule::kGpuClustering && looks_ahead) {
    world.policy.placement = PlacementRule::kFirstFit;
  }
  // With layouts hours pass, which are too many steps of a half-life of a few microseconds.
  if (world.policy.order == QueueOrder::kDecayedFairShare && !world.layouts.empty()) {
    world.policy.order = QueueOrder::kMaxMinFair;
  }
  return world;
}

RC_GTEST_PROP(ReplayOracle, EveryRunIsTheOracles, ()) {
  const SmallWorld world = any_world();
  RC_LOG() << to_text(world.policy.order) << ", " << to_text(world.policy.when_blocked) << ", "
           << to_text(world.policy.placement) << (world.policy.preempts ? ", preempts" : "")
           << (world.pools.empty() ? "" : ", pools")
           << (world.spill_over.places.empty() ? "" : ", places")
           << (world.spot.planned.empty() ? "" : ", taken back")
           << (world.layouts.empty() ? "" : ", layouts");
  const Replay replay = simulate(world.jobs, world.machines,
                                 {.scheduling = world.policy,
                                  .spot = world.spot,
                                  .pools = world.pools,
                                  .layouts = world.layouts,
                                  .spill_over = world.spill_over,
                                  .keep_runs = true});
  Oracle oracle(world);
  RC_ASSERT(runs_of(replay) == oracle.run());
  std::vector<OraclePower> powered;
  for (const PowerSpan& span : replay.powered) {
    powered.emplace_back(span.machine, span.begin_us, span.end_us);
  }
  std::sort(powered.begin(), powered.end());
  RC_ASSERT(powered == oracle.powered());
}

// A world of the small oracle: whole GPUs of one machine each.
RC_GTEST_PROP(ReplayOracle, EveryRunIsTheSmallOracles, ()) {
  std::vector<Machine> machines;
  for (std::uint32_t i = number(1, 4); i > 0; --i) machines.push_back({.gpus = number(0, 4)});
  std::uint32_t largest = 0;
  for (const Machine& machine : machines) largest = std::max(largest, machine.gpus);
  std::vector<Job> jobs;
  for (std::uint32_t i = number(1, 8); i > 0; --i) {
    Job& job = jobs.emplace_back();
    job.submit_us = number(0, 12);
    job.work_us = number(1, 15);
    if (number(0, 2) == 0) job.estimate_us = number(1, 20);
    job.priority = number(0, 2);
    job.request.gpus = number(0, largest);
  }
  constexpr QueueOrder kOrders[] = {QueueOrder::kFirstComeFirstServed, QueueOrder::kPriority,
                                    QueueOrder::kShortestJob};
  constexpr PlacementRule kRules[] = {PlacementRule::kFirstFit, PlacementRule::kBestFit,
                                      PlacementRule::kWorstFit};
  const Scheduling policy{.order = kOrders[number(0, 2)],
                          .when_blocked = static_cast<WhenBlocked>(number(0, 2)),
                          .placement = kRules[number(0, 2)]};
  RC_LOG() << to_text(policy.order) << ", " << to_text(policy.when_blocked) << ", "
           << to_text(policy.placement);
  const Replay replay = simulate(jobs, machines, {.scheduling = policy, .keep_runs = true});
  std::vector<SmallOracle::Run> runs;
  for (const JobRun& run : replay.runs) {
    RC_ASSERT(run.shares.size() == 1u);
    const Share& share = run.shares.front();
    runs.emplace_back(run.end_us, run.job, run.begin_us, share.machine, share.gpu_mask);
  }
  std::sort(runs.begin(), runs.end());
  RC_ASSERT(runs == SmallOracle(jobs, machines, policy).run());
}

// Replays in several threads at once are the replay in one.
RC_GTEST_PROP(ReplayOracle, ThreadsChangeNothing, ()) {
  std::vector<SmallWorld> worlds;
  for (int i = 0; i < 4; ++i) worlds.push_back(any_world());
  const auto replay_of = [](const SmallWorld& world) {
    const Replay replay = simulate(world.jobs, world.machines,
                                   {.scheduling = world.policy,
                                    .spot = world.spot,
                                    .pools = world.pools,
                                    .layouts = world.layouts,
                                    .spill_over = world.spill_over,
                                    .keep_runs = true});
    return std::tuple(runs_of(replay), replay.end_us, replay.held_milli_gpu_us,
                      replay.idle_milli_gpu_us, replay.unavailable_milli_gpu_us,
                      replay.off_milli_gpu_us, replay.starting_milli_gpu_us);
  };
  std::vector<decltype(replay_of(worlds.front()))> alone, together(worlds.size());
  for (const SmallWorld& world : worlds) alone.push_back(replay_of(world));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    threads.emplace_back([&, i] { together[i] = replay_of(worlds[i]); });
  }
  threads.clear();  // joins them
  RC_ASSERT(together == alone);
}

// Jobs that differ in what decides their turn may be given in any order.
RC_GTEST_PROP(ReplayOracle, TheOrderOfTheInputChangesNothing, ()) {
  SmallWorld world = any_world();
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    world.jobs[i].name = std::to_string(i);
    world.jobs[i].submit_us = world.jobs[i].submit_us * 8 + static_cast<std::int64_t>(i);
  }
  std::vector<Job> shuffled = world.jobs;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[number(0, static_cast<std::uint32_t>(i - 1))]);
  }
  // Ends at the same moment are handled in the order of the input; they are the tie that is left.
  std::set<std::int64_t> ends;
  const ReplayOptions options{.scheduling = world.policy,
                              .spot = world.spot,
                              .pools = world.pools,
                              .layouts = world.layouts,
                              .spill_over = world.spill_over};
  const Replay replay = simulate(world.jobs, world.machines, options);
  for (const JobResult& result : replay.jobs) RC_PRE(ends.insert(result.end_us).second);
  const Replay again = simulate(shuffled, world.machines, options);
  RC_ASSERT(again.end_us == replay.end_us);
  RC_ASSERT(again.idle_milli_gpu_us == replay.idle_milli_gpu_us);
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    const JobResult& was = replay.jobs[std::stoul(shuffled[i].name)];
    RC_ASSERT(again.jobs[i].first_start_us == was.first_start_us);
    RC_ASSERT(again.jobs[i].end_us == was.end_us);
    RC_ASSERT(again.jobs[i].interruptions == was.interruptions);
  }
}

}  // namespace
}  // namespace pennyweight::replay
