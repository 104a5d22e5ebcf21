// A scenario is counted before it is made: what one line asks for never fills the memory.
#include "insight/what_if/scenario_facts.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "insight/what_if/node_pools.h"
#include "insight/what_if/scenario_text.h"

namespace pennyweight::what_if {
namespace {

const Interval kMarch{*parse_instant("2026-03-01T00:00:00Z"),
                      *parse_instant("2026-04-01T00:00:00Z")};

Scenario scenario_of(std::string_view line) {
  const auto texts = parse_scenario_line(line);
  EXPECT_TRUE(texts.has_value()) << line;
  const auto scenario = parse_scenario(texts.value_or(ScenarioTexts()));
  EXPECT_TRUE(scenario.has_value()) << line;
  return scenario.value_or(Scenario());
}

std::string refused(std::string_view line) {
  const auto texts = parse_scenario_line(line);
  if (!texts) return texts.error().message;
  const auto scenario = parse_scenario(*texts);
  return scenario ? "" : scenario.error().message;
}

ReplayWorld world_of(std::initializer_list<std::string> names) {
  ReplayWorld world(kMarch);
  for (const std::string& name : names) {
    replay::Job job;
    job.name = name;
    job.work_us = 1'000'000;
    job.request.gpus = 1;
    world.origins.push_back({.holding = static_cast<std::uint32_t>(world.jobs.size())});
    world.jobs.push_back(job);
  }
  return world;
}

std::vector<std::string> names_of(const ReplayWorld& world) {
  std::vector<std::string> names;
  for (const replay::Job& job : world.jobs) names.push_back(job.name);
  return names;
}

// A cluster of V100 nodes, with a charge a day each.
struct Fleet {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  Catalog catalog = Catalog::built_in();
  std::uint64_t ids = 0;

  Node& add(const std::string& name, const std::string& pool = "train") {
    Node& node = nodes.emplace_back(Node{.cluster = ClusterId("lab"),
                                         .name = NodeId(name),
                                         .provider_id = "i-" + name,
                                         .instance_type = {},
                                         .region = {},
                                         .pool = PoolId(pool),
                                         .gpu_model = "V100-SXM2-16GB",
                                         .gpu_count = 8,
                                         .cpu_milli = {},
                                         .memory_bytes = {},
                                         .from = kMarch.begin(),
                                         .to = {},
                                         .id = {},
                                         .source = {}});
    node.id = numbered(hash_of("node"), ++ids);
    const Money money = Money::from_units(10, kUsd);
    for (int day = 0; day < 31; ++day) {
      const Instant begin = kMarch.begin() + std::chrono::hours(24 * day);
      Charge& charge = charges.emplace_back(kMarch, Interval(begin, begin + std::chrono::hours(24)),
                                            Costs{money, money, money, money});
      charge.resource_id = "i-" + name;
      charge.service_category = "Compute";
      charge.id = numbered(hash_of("charge"), ++ids);
    }
    return node;
  }
  ClusterMonth month() const {
    return {.cluster = ClusterId("lab"),
            .charges = charges,
            .nodes = nodes,
            .gpus = gpus,
            .holdings = holdings,
            .catalog = catalog};
  }
  Result<ScenarioFacts> change(std::string_view line, const StopCheck& is_stopped = {}) const {
    return change_fleet(month(), kMarch, scenario_of(line), is_stopped);
  }
};

TEST(ScenarioFacts, DemandIsCountedBeforeItIsMade) {
  ReplayWorld world = world_of({"a", "b"});
  const auto refused =
      change_demand(world, scenario_of("demand=10000%;demand=10000%;demand=10000%"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().message.find("demand 10000% would make 2000000 jobs of 20000"),
            std::string::npos)
      << refused.error().message;
}

TEST(ScenarioFacts, CopiesOfAJobHaveNamesOfTheirOwn) {
  ReplayWorld world = world_of({"a", "a~2", "b"});
  ASSERT_TRUE(change_demand(world, scenario_of("demand=200%;demand=200%")).has_value());
  EXPECT_EQ(names_of(world),
            (std::vector<std::string>{"a", "a~4", "a~3", "a~5", "a~2", "a~2~3", "a~2~2", "a~2~4",
                                      "b", "b~3", "b~2", "b~4"}));
}

TEST(ScenarioFacts, NodesAreCountedBeforeTheyAreMade) {
  Fleet fleet;
  fleet.add("n1");
  fleet.add("n2");
  const auto facts = fleet.change("nodes=+19000");
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, ErrorCode::kLimit);
  EXPECT_NE(facts.error().message.find("would add 608000 charges, nodes and GPUs, 32 for each"),
            std::string::npos)
      << facts.error().message;
  const auto nodes = fleet.change("nodes=+19999");
  ASSERT_FALSE(nodes.has_value());
  EXPECT_NE(nodes.error().message.find("would make 20001 nodes"), std::string::npos)
      << nodes.error().message;
  EXPECT_NE(refused("nodes=+15000;nodes=+15000").find("'+30000'"), std::string::npos);
  EXPECT_NE(refused("price=10000%;price=10000%").find("have a price already"), std::string::npos);
  EXPECT_EQ(refused("price=50%;price=V100-SXM2-16GB=50%"), "");
}

TEST(ScenarioFacts, NodesAreAddedAndTakenAway) {
  Fleet fleet;
  for (const char* name : {"n1", "n1~1", "n2", "n3"}) fleet.add(name);
  const auto facts = fleet.change("nodes=-2;nodes=+1");
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  std::vector<std::string> names;
  for (const Node& node : facts->nodes) names.push_back(node.name.text());
  EXPECT_EQ(names, (std::vector<std::string>{"n1", "n1~1", "n1~2"}));
  EXPECT_EQ(facts->charges.size(), 3u * 31);
}

TEST(ScenarioFacts, OnlyNodesOfThePeriodAreSelectedByTheirLastPool) {
  Fleet fleet;
  fleet.add("n1").from = kMarch.begin() - std::chrono::hours(24 * 300);
  fleet.nodes[0].to = kMarch.begin() - std::chrono::hours(24 * 30);  // long gone
  fleet.add("n2");
  fleet.nodes[1].to = kMarch.begin() + std::chrono::hours(24);
  Node moved = fleet.nodes[1];
  moved.from = *moved.to;
  moved.to = {};
  moved.pool = PoolId("serve");
  fleet.nodes.push_back(moved);
  EXPECT_FALSE(fleet.change("nodes=-1:pool=train").has_value());
  EXPECT_TRUE(fleet.change("nodes=-1:pool=serve").has_value());
  EXPECT_FALSE(fleet.change("nodes=-2").has_value());
}

TEST(ScenarioFacts, StopsWhenItIsTold) {
  Fleet fleet;
  fleet.add("n1");
  const auto facts = fleet.change("nodes=+2", [] { return true; });
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, ErrorCode::kIo);
  ReplayWorld world = world_of({"a"});
  EXPECT_FALSE(change_demand(world, scenario_of("demand=200%"), [] { return true; }).has_value());
}

TEST(ScenarioFacts, TheClockOfAReplayHasAnEnd) {
  ReplayWorld world = world_of({"a", "b", "c"});
  EXPECT_TRUE(check_horizon(world).has_value());
  for (replay::Job& job : world.jobs) job.work_us = std::numeric_limits<std::int64_t>::max() / 4;
  EXPECT_FALSE(check_horizon(world).has_value());
}

std::vector<std::string> pool_names(const std::vector<replay::NodePool>& pools) {
  std::vector<std::string> names;
  for (const replay::NodePool& pool : pools) {
    names.push_back(std::to_string(pool.machines.size()) + " of at least " +
                    std::to_string(pool.least));
  }
  return names;
}

TEST(NodePools, AreChosenByPoolAndModel) {
  Fleet fleet;
  for (const char* name : {"n1", "n2", "n3"}) fleet.add(name);
  fleet.add("s1", "serve");
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world = make_replay_world(month, view, view, kMarch,
                                       [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(world.has_value());
  const auto pools_of = [&](std::string_view line) {
    return node_pools(*world, view, scenario_of(line));
  };
  const auto pools = pools_of("autoscale=1@5m/10m:pool=train;autoscale=0@0m/1h:pool=serve");
  ASSERT_TRUE(pools.has_value());
  EXPECT_EQ(pool_names(*pools), (std::vector<std::string>{"3 of at least 1", "1 of at least 0"}));
  for (const auto& [line, why] :
       {std::pair{"autoscale=3@5m/10m:pool=train", "3 of 3 nodes of pool train are always on"},
        std::pair{"autoscale=0@5m/10m:pool=gone", "0 of 0 nodes of pool gone"},
        std::pair{"autoscale=1@5m/10m;autoscale=0@5m/10m:pool=serve", "in two autoscaled pools"}}) {
    const auto refused_pools = pools_of(line);
    ASSERT_FALSE(refused_pools.has_value()) << line;
    EXPECT_NE(refused_pools.error().message.find(why), std::string::npos)
        << refused_pools.error().message;
  }
}

TEST(NodePools, ChargesAreCutToWhenANodeIsOn) {
  Fleet fleet;
  fleet.add("n1");
  fleet.add("n2");
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world = make_replay_world(month, view, view, kMarch,
                                       [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(world.has_value());
  constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;
  replay::Replay replay;
  // The second node: eight hours of the first day, in two parts, and two of the night after it.
  replay.powered = {
      {.machine = 1, .begin_us = kHour, .ready_us = kHour, .end_us = 8 * kHour},
      {.machine = 1, .begin_us = 21 * kHour, .ready_us = 21 * kHour, .end_us = 22 * kHour},
      {.machine = 1, .begin_us = 47 * kHour, .ready_us = 47 * kHour, .end_us = 50 * kHour}};
  auto charges = fleet.charges;
  charges.push_back(charges.back());  // a fee for longer than the month
  charges.back().charge_period = Interval(kMarch.begin() - std::chrono::hours(24), kMarch.end());
  const auto cut = charges_while_on(charges, *world, view, replay, {});
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_EQ(cut->kept_whole, 1u);
  ASSERT_EQ(cut->charges.size(), 31u + 4 + 1);
  std::vector<std::string> parts;
  for (std::size_t i = 31; i < 35; ++i) {
    parts.push_back(to_text(cut->charges[i].charge_period.begin()) + " " +
                    to_text(cut->charges[i].costs.effective.amount()));
  }
  // 10 USD a day: 7 h, 1 h; then 1 h and 2 h. Shares of a day are exact to the last digit that
  // money has, and what is not charged takes the rest.
  EXPECT_EQ(parts, (std::vector<std::string>{"2026-03-01T01:00:00Z 2.916666666666666667",
                                             "2026-03-01T21:00:00Z 0.416666666666666667",
                                             "2026-03-02T23:00:00Z 0.416666666666666667",
                                             "2026-03-03T00:00:00Z 0.833333333333333333"}));
  std::set<FactId> ids;
  for (std::size_t i = 0; i < 35; ++i) ids.insert(cut->charges[i].id);
  EXPECT_EQ(ids.size(), 35u);
}

TEST(ScenarioText, RefusesWhatHasNoEffect) {
  for (const auto& [line, why] :
       {std::pair{"weight=nlp=2", "weight changes nothing here: weights are for fair queues"},
        std::pair{"blocked=wait;depth=5", "depth changes nothing here"},
        std::pair{"preempt;scheduler=srtf;blocked=skip", "blocked changes nothing here"},
        std::pair{"blocked=skip;lengths=limit", "lengths changes nothing here"},
        std::pair{"seed=2", "seed changes nothing here"},
        std::pair{"autoscale=4@5m/10m;preempt;scheduler=srtf", "can't be combined with preempt"},
        std::pair{"power=V100-SXM2-16GB=70/300", "no more idle than held"},
        std::pair{"slo=nlp=60;slo=nlp=30", "there is a limit for these jobs already"}}) {
    EXPECT_NE(refused(line).find(why), std::string::npos) << line << ": " << refused(line);
  }
  for (const char* line :
       {"weight=nlp=2;scheduler=drf", "depth=5", "blocked=skip;depth=5", "seed=2;spot=1%",
        "preempt;scheduler=srtf;lengths=limit", "slo=nlp=60;slo=240",
        "autoscale=0@0m/1h:model=V100-SXM2-16GB;autoscale=1@5m/90m:pool=a"}) {
    EXPECT_EQ(refused(line), "") << line;
    const auto texts = parse_scenario_line(line);
    ASSERT_TRUE(texts.has_value());
    const auto again = parse_scenario_line(scenario_line(*texts));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(scenario_line(*again), scenario_line(*texts));
  }
}

TEST(ScenarioFacts, SlicesIgnoreNodesWithoutGpus) {
  Fleet fleet;
  fleet.add("cpu").gpu_model.clear();
  fleet.nodes[0].gpu_count = 0;
  fleet.add("gpu").gpu_model = "A100-SXM4-40GB";
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  auto made = make_replay_world(month, view, view, kMarch,
                                [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(made.has_value());
  const ReplayWorld jobs = world_of({"a"});
  made->jobs = jobs.jobs;
  made->origins = jobs.origins;
  const auto slices = change_slices(*made, view, scenario_of("slice=1g.5gb"));
  ASSERT_TRUE(slices.has_value()) << slices.error().message;
  EXPECT_TRUE(slices->front().has_value());
}

}  // namespace
}  // namespace pennyweight::what_if
