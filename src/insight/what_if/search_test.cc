// The searches against searches by brute force, which look at every fleet, commitment and layout,
// and at every millisecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "insight/what_if/mig_search.h"
#include "insight/what_if/tier_search.h"

namespace pennyweight::what_if {
namespace {

constexpr std::int64_t kMs = 1000;
constexpr std::int64_t kPeriodMs = 40;
const Instant kBegin = *parse_instant("2026-03-01T00:00:00Z");
const Interval kShort{kBegin, kBegin + std::chrono::milliseconds(kPeriodMs)};

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(engine_() % (most + 1));
  }

 private:
  std::mt19937 engine_;
};

ReplayWorld small_world(Dice& dice, std::uint32_t machines, std::uint32_t jobs) {
  ReplayWorld world(kShort);
  for (std::uint32_t i = 0; i < machines; ++i) {
    world.machines.push_back({.name = "n" + std::to_string(i),
                              .model = 0,
                              .gpus = 2,
                              .cpu_milli = 1 << 20,
                              .memory_mib = 1 << 20});
    world.node_of_machine.push_back(i);
  }
  for (std::uint32_t i = 0; i < jobs; ++i) {
    replay::Job job;
    job.name = "j" + std::to_string(i);
    job.submit_us = dice.upto(20) * kMs;
    job.work_us = (1 + dice.upto(9)) * kMs;
    job.request.gpus = 1 + dice.upto(1);
    world.jobs.push_back(job);
    world.origins.push_back({.holding = i});
  }
  return world;
}

// What every millisecond of a fleet costs, looked at one by one.
Int128 brute_cost(const ReplayWorld& world, const replay::Replay& replay, const TierNodes& nodes,
                  std::uint32_t fleet, std::uint32_t spot, std::uint32_t committed,
                  const TierPrices& prices) {
  Int128 all = 0;
  for (const Int128 price : nodes.prices) all += price;
  const Int128 covered = all * committed / static_cast<Int128>(nodes.prices.size());
  Int128 over = 0;  // prices times milliseconds
  std::vector<std::int64_t> spot_ms(fleet, 0);
  for (std::int64_t ms = 0; ms < kPeriodMs; ++ms) {
    Int128 running = 0;
    for (std::uint32_t machine = 0; machine < fleet; ++machine) {
      const bool is_paid = std::ranges::any_of(replay.runs, [&](const replay::JobRun& run) {
        return run.begin_us <= ms * kMs && ms * kMs < run.end_us + prices.kept_us &&
               std::ranges::any_of(
                   run.shares,
                   [&](const replay::Share& share) { return share.machine == machine; });
      });
      if (!is_paid) continue;
      if (machine >= fleet - spot) {
        ++spot_ms[machine];
      } else {
        running += nodes.prices[machine];
      }
    }
    over += std::max<Int128>(0, running - covered);
  }
  Int128 cost = covered * prices.committed_percent.value_or(0) / 100 + over / kPeriodMs;
  for (std::uint32_t machine = 0; machine < fleet; ++machine) {
    cost += nodes.prices[machine] * prices.spot_percent.value_or(0) / 100 * spot_ms[machine] /
            kPeriodMs;
  }
  (void)world;
  return cost;
}

TEST(TierSearch, FindsWhatBruteForceFinds) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed);
    const std::uint32_t count = 1 + dice.upto(3);
    const ReplayWorld world = small_world(dice, count, 4 + dice.upto(8));
    TierNodes nodes;
    for (std::uint32_t i = 0; i < count; ++i) {
      nodes.machines.push_back(i);
      // A multiple of everything that the brute force divides by, so that nothing is rounded.
      nodes.prices.push_back(Int128{1 + dice.upto(2)} * 100 * 100 * kPeriodMs * 12);
    }
    TierGoal goal{.wait_p95_max_us = dice.upto(12) * kMs,
                  .gpu_model = {},
                  .prices = {.committed_percent = 40 + dice.upto(50),
                             .spot_percent = 20 + dice.upto(60),
                             .reclaimed_per_hour = 0,
                             .kept_us = dice.upto(3) * kMs},
                  .tries_max = 100};
    if (dice.upto(3) == 0) goal.prices.committed_percent.reset();
    if (dice.upto(3) == 0) goal.prices.spot_percent.reset();
    const TierReplay replay = [&](const ReplayWorld& tried,
                                  const std::vector<bool>&) -> Result<replay::Replay> {
      return replay::simulate(tried.jobs, tried.machines, {.keep_runs = true});
    };
    const auto found = search_tiers(world, nodes, goal, 0, replay);
    ASSERT_TRUE(found.has_value());

    std::optional<Int128> cheapest;
    for (std::uint32_t fleet = 1; fleet <= count; ++fleet) {
      ReplayWorld tried = world;
      tried.machines.resize(fleet);
      const replay::Replay run = *replay(tried, {});
      const bool is_enough = figures_of(tried, run).wait.p95 <= goal.wait_p95_max_us;
      for (std::uint32_t spot = 0; spot <= (goal.prices.spot_percent ? fleet : 0); ++spot) {
        std::optional<Int128> best;
        for (std::uint32_t bought = 0; bought <= (goal.prices.committed_percent ? fleet : 0);
             ++bought) {
          const Int128 cost = brute_cost(tried, run, nodes, fleet, spot, bought, goal.prices);
          best = best ? std::min(*best, cost) : cost;
        }
        const auto point = std::ranges::find_if(*found, [&](const TierPoint& each) {
          return each.nodes == fleet && each.spot == spot;
        });
        ASSERT_NE(point, found->end()) << "seed " << seed;
        EXPECT_EQ(to_text(point->cost()), to_text(*best)) << "seed " << seed;
        EXPECT_EQ(point->is_enough, is_enough) << "seed " << seed;
        if (is_enough) cheapest = cheapest ? std::min(*cheapest, *best) : *best;
      }
    }
    const auto first = std::ranges::find_if(*found, &TierPoint::is_enough);
    ASSERT_EQ(first != found->end(), cheapest.has_value()) << "seed " << seed;
    if (cheapest) {
      EXPECT_EQ(to_text(first->cost()), to_text(*cheapest)) << "seed " << seed;
    }
    // A point is on the frontier exactly where no other one is better in one and no worse in both.
    for (const TierPoint& one : *found) {
      const bool is_beaten = std::ranges::any_of(*found, [&](const TierPoint& other) {
        return other.cost() <= one.cost() && other.wait_p95_us <= one.wait_p95_us &&
               (other.cost() < one.cost() || other.wait_p95_us < one.wait_p95_us);
      });
      if (is_beaten) {
        EXPECT_FALSE(one.is_on_frontier) << "seed " << seed;
      }
    }
    EXPECT_TRUE(std::ranges::any_of(*found, &TierPoint::is_on_frontier));
  }
}

TEST(TierSearch, KeepsToItsTriesAndComesOutAlikeTwice) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    const ReplayWorld world = small_world(dice, 14, 40);
    TierNodes nodes;
    for (std::uint32_t i = 0; i < 14; ++i) {
      nodes.machines.push_back(i);
      nodes.prices.push_back(1'000'000);
    }
    const TierGoal goal{.wait_p95_max_us = 5 * kMs,
                        .gpu_model = {},
                        .prices = {.committed_percent = 60,
                                   .spot_percent = 35,
                                   .reclaimed_per_hour = 0,
                                   .kept_us = kMs},
                        .tries_max = 5 + dice.upto(40)};
    std::uint32_t replays = 0;
    const TierReplay replay = [&](const ReplayWorld& tried,
                                  const std::vector<bool>& is_spot) -> Result<replay::Replay> {
      ++replays;
      EXPECT_EQ(is_spot.size(), tried.machines.size());
      return replay::simulate(tried.jobs, tried.machines, {.keep_runs = true});
    };
    const auto once = search_tiers(world, nodes, goal, 0, replay);
    ASSERT_TRUE(once.has_value());
    EXPECT_LE(replays, goal.tries_max);
    EXPECT_EQ(replays, once->size());
    std::set<std::pair<std::uint32_t, std::uint32_t>> fleets;
    for (const TierPoint& point : *once) fleets.emplace(point.nodes, point.spot);
    EXPECT_EQ(fleets.size(), once->size()) << "no fleet is tried twice";
    EXPECT_TRUE(fleets.contains({14, 0})) << "the fleet as it is";
    const auto twice = search_tiers(world, nodes, goal, 0, replay);
    for (std::size_t i = 0; i < once->size(); ++i) {
      EXPECT_EQ(to_text((*once)[i].cost()), to_text((*twice)[i].cost()));
      EXPECT_EQ((*once)[i].nodes, (*twice)[i].nodes);
    }
  }
}

// Jobs of one size on so many equal instances, first come, first served, millisecond by
// millisecond.
std::vector<std::int64_t> waits_on(std::uint64_t instances, const std::vector<replay::Job>& jobs) {
  std::vector<std::uint32_t> order(jobs.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return jobs[i].submit_us; });
  std::multiset<std::int64_t> free_at;
  for (std::uint64_t i = 0; i < instances; ++i) free_at.insert(0);
  std::vector<std::int64_t> waits;
  for (const std::uint32_t job : order) {
    const std::int64_t start = std::max(jobs[job].submit_us, *free_at.begin());
    free_at.erase(free_at.begin());
    free_at.insert(start + jobs[job].work_us);
    waits.push_back(start - jobs[job].submit_us);
  }
  return waits;
}

TEST(MigSearch, FindsTheFewestNodesOfEachLayout) {
  const GpuModel* const a100 = find_gpu_model("A100-SXM4-40GB");
  ASSERT_NE(a100, nullptr);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const std::uint32_t count = 2 + dice.upto(4);
    ReplayWorld world = small_world(dice, count, 30 + dice.upto(60));
    MigNodes nodes{.model = a100, .machines = {}, .prices = {}};
    for (std::uint32_t i = 0; i < count; ++i) {
      nodes.machines.push_back(i);
      nodes.prices.push_back(1000);
    }
    std::vector<MovedJob> moved;
    const MigInstanceSize size = dice.upto(1) == 0 ? MigInstanceSize{1, 1} : MigInstanceSize{3, 4};
    for (std::uint32_t job = 0; job < world.jobs.size(); ++job) moved.push_back({job, size});
    const MigGoal goal{.wait_p95_max_us = dice.upto(15) * kMs, .gpu_model = {}, .tries_max = 1000};
    const MigReplay replay = [&](const ReplayWorld& tried, bool) -> Result<replay::Replay> {
      return replay::simulate(tried.jobs, tried.machines, {.keep_runs = true});
    };
    const auto found = search_mig_layouts(world, moved, nodes, goal, 0, replay);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->layouts, found->layouts_tried);

    // How many such instances a GPU of each layout has.
    const MigLayouts& all = legal_mig_layouts(*a100);
    std::set<std::uint64_t> per_gpu;
    for (const auto& layout : all.legal) {
      std::uint64_t instances = 0;
      for (std::size_t i = 0; i < layout.size(); ++i) {
        if (all.sizes[i].compute_slices >= size.compute_slices &&
            all.sizes[i].memory_slices >= size.memory_slices) {
          instances += layout[i];
        }
      }
      if (instances > 0) per_gpu.insert(instances);
    }
    std::optional<std::uint32_t> fewest;  // nodes, over all layouts
    for (std::uint32_t cut = 1; cut <= count && !fewest; ++cut) {
      for (const std::uint64_t instances : per_gpu) {
        auto waits = waits_on(instances * cut * 2, world.jobs);
        if (time_figures(waits).p95 <= goal.wait_p95_max_us) fewest = cut;
      }
    }
    const auto best = std::ranges::find_if(found->points, &MigPoint::is_enough);
    ASSERT_EQ(best != found->points.end(), fewest.has_value()) << "seed " << seed;
    if (fewest) {
      EXPECT_EQ(best->nodes, *fewest) << "seed " << seed;
    }
    for (const MigPoint& point : found->points) {
      EXPECT_EQ(point.cost, Int128{1000} * point.nodes);
      EXPECT_EQ(point.moved_p95_us, point.all_p95_us) << "every job moves";
    }
  }
}

// What others need stays whole: jobs of two GPUs on the nodes that are left.
TEST(MigSearch, OtherJobsKeepWholeNodes) {
  Dice dice(1);
  ReplayWorld world = small_world(dice, 3, 12);
  for (std::uint32_t i = 0; i < 12; ++i) world.jobs[i].request.gpus = i < 6 ? 1 : 2;
  MigNodes nodes{.model = find_gpu_model("A100-SXM4-40GB"),
                 .machines = {0, 1, 2},
                 .prices = {1000, 1000, 1000}};
  std::vector<MovedJob> moved;
  for (std::uint32_t job = 0; job < 6; ++job) moved.push_back({job, {1, 1}});
  const MigReplay replay = [&](const ReplayWorld& tried, bool) -> Result<replay::Replay> {
    for (const replay::Job& job : tried.jobs) EXPECT_GT(job.request.gpus, 0u);
    return replay::simulate(tried.jobs, tried.machines, {.keep_runs = true});
  };
  const auto found = search_mig_layouts(
      world, moved, nodes, {.wait_p95_max_us = kPeriodMs * kMs, .gpu_model = {}, .tries_max = 100},
      0, replay);
  ASSERT_TRUE(found.has_value());
  const auto best = std::ranges::find_if(found->points, &MigPoint::is_enough);
  ASSERT_NE(best, found->points.end());
  EXPECT_EQ(best->nodes, 1u);
  const auto few = search_mig_layouts(
      world, moved, nodes, {.wait_p95_max_us = 0, .gpu_model = {}, .tries_max = 3}, 0, replay);
  EXPECT_EQ(few->points.size(), 3u) << "no more tries than asked for";
}

}  // namespace
}  // namespace pennyweight::what_if
