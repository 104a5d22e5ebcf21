// A scenario is counted before it is made: what one line asks for never fills the memory.
#include "insight/what_if/scenario_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "insight/what_if/commitments.h"
#include "insight/what_if/figures.h"
#include "insight/what_if/fitted_jobs.h"
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

TEST(Commitments, EndOrAreExchanged) {
  Fleet fleet;
  fleet.add("n1");
  const auto usd = [](std::int64_t units) { return Money::from_units(units, kUsd); };
  // Each day: 10 on demand, 6 with the commitment; the second half of the month it is not used.
  for (std::size_t day = 0; day < fleet.charges.size(); ++day) {
    Charge& charge = fleet.charges[day];
    charge.costs = {usd(0), usd(6), usd(12), usd(10)};
    charge.commitment_discount_id = "sp-1";
    charge.commitment_discount_status = day < 20 ? UsedOrUnused::kUsed : UsedOrUnused::kUnused;
  }
  const auto effective = [](const Result<std::vector<Charge>>& charges) {
    Money sum = Money::zero(kUsd);
    for (const Charge& charge : charges.value_or(std::vector<Charge>())) {
      sum += charge.costs.effective;
    }
    return to_text(sum.amount());
  };
  const auto changed = [&](std::string_view line) {
    return change_commitments(fleet.charges, scenario_of(line).commitments, {});
  };
  // Ten days and a half at 6, nine and a half at 10, and nothing for what was not used.
  EXPECT_EQ(effective(changed("commitment-end=2026-03-11T12:00:00Z")), "158");
  EXPECT_EQ(effective(changed("commitment-end=sp-1@2026-03-11T12:00:00Z=60%")), "120");
  const auto cut = changed("commitment-end=sp-1@2026-03-11T12:00:00Z");
  ASSERT_TRUE(cut.has_value());
  ASSERT_EQ(cut->size(), 21u);
  EXPECT_EQ((*cut)[10].commitment_discount_id, "sp-1");
  EXPECT_EQ((*cut)[11].commitment_discount_id, "");
  EXPECT_NE((*cut)[10].id, (*cut)[11].id);
  EXPECT_FALSE(changed("commitment-end=sp-2@2026-03-11T12:00:00Z").has_value());
  EXPECT_FALSE(changed("commitment-end=2026-04-11T12:00:00Z").has_value());
  fleet.charges[15].costs.contracted = usd(0);
  EXPECT_FALSE(changed("commitment-end=2026-03-11T12:00:00Z").has_value());
  EXPECT_NE(refused("commitment-end=@2026-03-11T12:00:00Z").find("write when it ends"),
            std::string::npos);
  EXPECT_NE(refused("commitment-end=2026-03-11T12:00:00Z=160%").find("write when it ends"),
            std::string::npos);
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
    return node_pools(*world, view, scenario_of(line), false);
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

TEST(FittedJobs, ArePoissonDistributed) {
  replay::SeededRandom random(7);
  for (const std::uint64_t mean : {1u, 3u, 20u}) {
    constexpr std::int64_t kDraws = 20'000;
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (std::int64_t i = 0; i < kDraws; ++i) {
      const auto drawn = static_cast<std::int64_t>(draw_poisson(mean * 1024, random));
      sum += drawn;
      squares += drawn * drawn;
    }
    // Mean and variance are the mean, within five standard errors of each.
    const auto wanted = static_cast<std::int64_t>(mean);
    EXPECT_LT(std::abs(sum - wanted * kDraws), 5 * 142 * (wanted + 1)) << mean;
    const std::int64_t variance = (squares * kDraws - sum * sum) / (kDraws * kDraws);
    EXPECT_LE(std::abs(variance - wanted), wanted / 10 + 1) << mean;
  }
}

TEST(FittedJobs, ArriveInTheHoursOfTheWeekInWhichTheMonthsDid) {
  // March 2026 has five Mondays and four Wednesdays. Ten jobs came on each Monday at 10:20, one of
  // another team on each Wednesday at 00:05, and one was there at the beginning.
  ReplayWorld world = world_of({});
  constexpr std::int64_t kMinute = std::int64_t{60} * 1'000'000;
  const auto add = [&](const std::string& team, std::int64_t at_us, std::uint32_t gpus) {
    replay::Job job;
    job.name = team + std::to_string(world.jobs.size());
    job.team = team;
    job.submit_us = at_us;
    job.work_us = kMinute * gpus;
    job.request.gpus = gpus;
    world.origins.push_back({.holding = static_cast<std::uint32_t>(world.jobs.size())});
    world.jobs.push_back(job);
  };
  add("old", 0, 4);
  for (int week = 0; week < 5; ++week) {  // 1 March is a Sunday
    const std::int64_t monday = (1 + 7 * week) * 24 * 60 * kMinute;
    for (std::uint32_t i = 0; i < 10; ++i) add("a", monday + (10 * 60 + 20) * kMinute, 1 + i % 2);
    if (week < 4) add("b", monday + (2 * 24 * 60 + 5) * kMinute, 8);
  }
  ReplayWorld again = world;
  ReplayWorld other = world;
  ASSERT_TRUE(draw_fitted_jobs(world, 3, {}).has_value());
  ASSERT_TRUE(draw_fitted_jobs(again, 3, {}).has_value());
  ASSERT_TRUE(draw_fitted_jobs(other, 4, {}).has_value());
  EXPECT_EQ(names_of(world), names_of(again));
  EXPECT_NE(names_of(world), names_of(other));
  std::map<std::string, int> counts;
  for (const replay::Job& job : world.jobs) {
    ++counts[job.team];
    const std::int64_t hour = job.submit_us / (60 * kMinute);
    EXPECT_TRUE(job.team != "a" || hour % 168 == 24 + 10) << hour;
    EXPECT_TRUE(job.team != "b" || hour % 168 == 3 * 24) << hour;
    // Size and length stay together.
    EXPECT_TRUE(job.team == "old" || job.work_us == kMinute * job.request.gpus);
  }
  EXPECT_EQ(counts["old"], 1);
  EXPECT_GT(counts["a"], 25);
  EXPECT_LT(counts["a"], 80);
  const std::vector<std::string> names = names_of(world);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  ReplayWorld only_old = world_of({"a"});
  EXPECT_FALSE(draw_fitted_jobs(only_old, 1, {}).has_value());
}

TEST(Places, JobsStayWhereTheyRanAndMayLeave) {
  Fleet fleet;
  fleet.add("n1");
  fleet.add("s1", "serve");
  fleet.add("t1", "test").gpu_model = "T4";
  for (const char* node : {"n1", "s1"}) {
    OnNodes on;
    on.parts.push_back({NodeId(node), 2});
    fleet.holdings.emplace_back(ClusterId("lab"), WorkloadId(std::string("job-") + node), kMarch,
                                std::move(on));
    fleet.holdings.back().device = WholeGpu{};
  }
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world_with = [&](bool any_model) {
    return make_replay_world(month, view, view, kMarch,
                             [](const Holding&) { return std::string(); },
                             {.home = HomeScope::kPool, .any_model = any_model});
  };
  // The models of nodes by name: 0 is that of n1, 1 of s1, 2 of t1.
  const auto same = world_with(false);
  ASSERT_TRUE(same.has_value());
  ASSERT_EQ(same->jobs.size(), 2u);
  EXPECT_EQ(same->place_count, 3u);
  EXPECT_EQ(same->jobs[0].request.models, 1u);
  EXPECT_EQ(same->places[same->jobs[0].elsewhere - 1], std::vector<replay::ModelSet>{2});
  EXPECT_EQ(same->jobs[1].request.models, 2u);
  EXPECT_EQ(same->places[same->jobs[1].elsewhere - 1], std::vector<replay::ModelSet>{1});
  const auto any = world_with(true);
  ASSERT_TRUE(any.has_value());
  EXPECT_EQ(any->places[any->jobs[0].elsewhere - 1], (std::vector<replay::ModelSet>{2, 4}));
}

// A replay in which the second machine is on for the first day only.
replay::Replay on_for_a_day() {
  replay::Replay replay;
  replay.powered = {
      {.machine = 1, .begin_us = 0, .ready_us = 0, .end_us = std::int64_t{24} * 3600 * 1'000'000}};
  return replay;
}

TEST(NodePools, WhatDoesNotGoByTimeStaysWhole) {
  Fleet fleet;
  fleet.add("n1");
  fleet.add("n2");
  fleet.charges[31 + 20].commitment_discount_id = "sp-1";
  fleet.charges[31 + 21].charge_category = ChargeCategory::kCredit;
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world = make_replay_world(month, view, view, kMarch,
                                       [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(world.has_value());
  const auto cut = charges_while_on(fleet.charges, *world, view, on_for_a_day(), {});
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_EQ(cut->kept_whole, 2u);
  EXPECT_EQ(cut->charges.size(), 31u + 1 + 2);
}

TEST(NodePools, ANodeCostsItsAverageWhereTheBillHasNothing) {
  Fleet fleet;
  fleet.add("n1");
  fleet.add("n2");
  // n2 is charged for ten days of the month; in the replay it is on for the first day and the 20th.
  fleet.charges.erase(fleet.charges.begin() + 31 + 10, fleet.charges.end());
  const Money a_day = fleet.charges.back().costs.effective;
  fleet.charges[31].costs.effective = a_day + a_day;
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world = make_replay_world(month, view, view, kMarch,
                                       [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(world.has_value());
  replay::Replay replay = on_for_a_day();
  constexpr std::int64_t kDay = std::int64_t{24} * 3600 * 1'000'000;
  replay.powered.push_back(
      {.machine = 1, .begin_us = 19 * kDay, .ready_us = 19 * kDay, .end_us = 20 * kDay});
  const auto cut = charges_while_on(fleet.charges, *world, view, replay, {});
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_EQ(cut->at_average, 1u);
  ASSERT_EQ(cut->charges.size(), 31u + 1 + 1);
  // Eleven days' cost in ten days: 1.1 of a day.
  const Charge& average = cut->charges.front();
  EXPECT_EQ(average.charge_period, Interval(kMarch.begin() + std::chrono::hours(19 * 24),
                                            kMarch.begin() + std::chrono::hours(20 * 24)));
  EXPECT_EQ(average.costs.effective.ticks() * 10, a_day.ticks() * 11);
  // A tax of the whole month covers no hour of it.
  const std::vector<Charge> untaxed = fleet.charges;
  Charge tax = fleet.charges.back();
  tax.charge_category = ChargeCategory::kTax;
  tax.charge_period = kMarch;
  tax.id = numbered(tax.id.hash, 99);
  fleet.charges.push_back(tax);
  const auto taxed = charges_while_on(fleet.charges, *world, view, replay, {});
  ASSERT_TRUE(taxed.has_value()) << taxed.error().message;
  EXPECT_EQ(taxed->at_average, 1u);
  EXPECT_EQ(taxed->charges.front().costs.effective, average.costs.effective);
  fleet.charges = untaxed;
  // What is never charged has no average.
  fleet.charges.erase(fleet.charges.begin() + 31, fleet.charges.end());
  const auto refused_cut = charges_while_on(fleet.charges, *world, view, replay, {});
  ASSERT_FALSE(refused_cut.has_value());
  EXPECT_EQ(refused_cut.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused_cut.error().message.find("node n2 is charged nothing by time"),
            std::string::npos)
      << refused_cut.error().message;
}

TEST(ScenarioFacts, APoolKeepsItsMostNodes) {
  Fleet fleet;
  for (const char* name : {"n1", "n2", "n3"}) fleet.add(name);
  fleet.add("s1", "serve").gpu_model = "A100-SXM4-40GB";
  fleet.nodes[1].to = kMarch.begin() + std::chrono::hours(24);
  Node later = fleet.nodes[0];  // n1 was away from the second day to the tenth
  fleet.nodes[0].to = kMarch.begin() + std::chrono::hours(24);
  later.from = kMarch.begin() + std::chrono::hours(9 * 24);
  later.id = numbered(later.id.hash, 2);
  fleet.nodes.push_back(later);
  const ClusterMonth month = fleet.month();
  const auto facts =
      change_fleet(month, kMarch, scenario_of("autoscale=0-2@5m/10m:pool=train"), {});
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  std::vector<std::string> names;
  for (const Node& node : facts->nodes) names.push_back(node.name.text());
  EXPECT_EQ(names, (std::vector<std::string>{"n1", "n2", "s1", "n1"}));
  EXPECT_EQ(facts->nodes[0].to, later.from) << "without a gap";
  const auto more = change_fleet(
      month, kMarch, scenario_of("nodes=+1:pool=train;autoscale=0@5m/10m:pool=train"), {});
  ASSERT_TRUE(more.has_value()) << more.error().message;
  std::uint64_t copies = 0;
  for (const Node& node : more->nodes) {
    if (node.name.text() != "n1~1") continue;
    ++copies;
    EXPECT_EQ(node.to, node.from == kMarch.begin() ? std::optional(later.from) : std::nullopt);
  }
  EXPECT_EQ(copies, 2u);
  EXPECT_EQ(facts->charges.size(), 3u * 31);
  EXPECT_FALSE(facts->nodes[1].to.has_value()) << "it may be started at any time";
  for (const auto& [line, why] :
       {std::pair{"autoscale=0-3@5m/10m:pool=train", "has 3 nodes of pool train, so at most 3"},
        std::pair{"autoscale=0-2@5m/10m", "have different GPUs"},
        std::pair{"nodes=+4;autoscale=0-2@5m/10m:pool=train", "add none, or leave the most out"}}) {
    const auto refused_facts = change_fleet(month, kMarch, scenario_of(line), {});
    ASSERT_FALSE(refused_facts.has_value()) << line;
    EXPECT_NE(refused_facts.error().message.find(why), std::string::npos)
        << refused_facts.error().message;
  }
}

TEST(NodePools, HaveNeitherNodesWithoutGpusNorThoseThatAreNeeded) {
  Fleet fleet;
  fleet.add("cpu").gpu_count = 0;
  fleet.nodes[0].gpu_model.clear();
  fleet.add("n1");
  fleet.add("n2");
  OnNodes on;
  on.parts.push_back({NodeId("n1"), 2});
  fleet.holdings.emplace_back(ClusterId("lab"), WorkloadId("reserved"), kMarch, std::move(on));
  fleet.holdings.back().device = WholeGpu{};
  fleet.holdings.back().is_reservation = true;
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  const auto world = make_replay_world(month, view, view, kMarch,
                                       [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(world.has_value());
  const auto pools = node_pools(*world, view, scenario_of("autoscale=0@5m/10m"), false);
  ASSERT_TRUE(pools.has_value());
  ASSERT_EQ(pools->front().machines.size(), 1u);
  EXPECT_EQ(world->machines[pools->front().machines.front()].name, "n2");
}

TEST(JobFigures, AddUpToTheCapacityBeyondTheEndOfTheMonth) {
  // One machine is on all the time, the other from the last hour on; both have a job that lasts
  // longer than the month.
  ReplayWorld world = world_of({"a", "b"});
  constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;
  const std::int64_t end = period_us(world.period);
  for (int i = 0; i < 2; ++i) {
    world.machines.push_back({.name = std::to_string(i), .gpus = 4});
    world.watts.emplace_back();
    world.jobs[static_cast<std::size_t>(i)].request.gpus = 4;
    world.jobs[static_cast<std::size_t>(i)].work_us = 3 * kHour;
    world.jobs[static_cast<std::size_t>(i)].submit_us = end - kHour;
  }
  const replay::Replay replay = replay::simulate(
      world.jobs, world.machines,
      {.pools = {{.machines = {1}, .least = 0, .start_us = kHour / 2, .kept_us = kHour}},
       .keep_runs = true});
  const JobFigures figures = figures_of(world, replay);
  const Int128 hour = Int128{4000} * kHour;
  EXPECT_EQ(figures.held, hour + hour / 2);
  EXPECT_EQ(figures.starting, hour / 2);
  EXPECT_EQ(figures.off, Int128{end - kHour} * 4000);
  EXPECT_EQ(figures.idle, Int128{end - kHour} * 4000);
  EXPECT_EQ(figures.gpus_without_watts, 8u);
  EXPECT_FALSE(figures.energy.has_value());  // nothing is known, which is not nothing
}

TEST(ScenarioText, RefusesWhatHasNoEffect) {
  for (const auto& [line, why] :
       {std::pair{"weight=nlp=2", "weight changes nothing here: weights are for fair queues"},
        std::pair{"blocked=wait;depth=5", "depth changes nothing here"},
        std::pair{"preempt;scheduler=srtf;blocked=skip", "blocked changes nothing here"},
        std::pair{"blocked=skip;lengths=limit", "lengths changes nothing here"},
        std::pair{"seed=2", "seed changes nothing here"},
        std::pair{"autoscale=4@5m/10m;preempt;scheduler=srtf", "can't be combined with preempt"},
        std::pair{"autoscale=4-4@5m/10m", "the most nodes must be more"},
        std::pair{"autoscale=4-x@5m/10m", "write N@START/KEPT"},
        std::pair{"autoscale=4@5m/10m;cheapest-tiers=60;committed=60%", "with cheapest-tiers"},
        std::pair{"slice=1g.5gb/8-20", "after '/' stands the part of the day"},
        std::pair{"spill-over=pool", "spill-over 'pool': write pool@LENGTH"},
        std::pair{"spill-over=pool@60m;preempt;scheduler=srtf", "can't be combined with preempt"},
        std::pair{"same-rack=8;autoscale=4@5m/10m", "can't be combined with autoscale"},
        std::pair{"spot-trace=file.csv", "a trace is a file"},
        std::pair{"power=V100-SXM2-16GB=70/300", "no more idle than held"},
        std::pair{"slo=nlp=60;slo=nlp=30", "there is a limit for these jobs already"}}) {
    EXPECT_NE(refused(line).find(why), std::string::npos) << line << ": " << refused(line);
  }
  for (const char* line :
       {"weight=nlp=2;scheduler=drf", "depth=5", "blocked=skip;depth=5", "seed=2;spot=1%",
        "preempt;scheduler=srtf;lengths=limit", "spill-over=region@0m;same-rack=8", "fitted;seed=3",
        "slice=nlp=1g.5gb@120%/08:00-20:00", "slice=research/nlp=1g.5gb",
        "autoscale=4-20@5m/10m;spot=2%", "autoscale=4@5m/10m;outage=1@2026-03-05T00:00:00Z/24h",
        "slo=nlp=60;slo=240", "autoscale=0@0m/1h:model=V100-SXM2-16GB;autoscale=1@5m/90m:pool=a"}) {
    EXPECT_EQ(refused(line), "") << line;
    const auto texts = parse_scenario_line(line);
    ASSERT_TRUE(texts.has_value());
    const auto again = parse_scenario_line(scenario_line(*texts));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(scenario_line(*again), scenario_line(*texts));
  }
}

TEST(ScenarioFacts, SlicesOfAPartOfTheDayAreForJobsThatComeThen) {
  Fleet fleet;
  fleet.add("gpu").gpu_model = "A100-SXM4-40GB";
  const ClusterMonth month = fleet.month();
  const FleetView view(month.nodes, month.gpus, month.catalog, month.join_rules);
  auto made = make_replay_world(month, view, view, kMarch,
                                [](const Holding&) { return std::string(); }, {});
  ASSERT_TRUE(made.has_value());
  const ReplayWorld jobs = world_of({"day", "evening", "night"});
  made->jobs = jobs.jobs;
  made->origins = jobs.origins;
  constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000;
  made->jobs[0].submit_us = (24 + 8) * kHour;
  made->jobs[1].submit_us = 20 * kHour;
  made->jobs[2].submit_us = 3 * kHour;
  const auto moved = [&](std::string_view line) {
    ReplayWorld world = *made;
    const auto slices = change_slices(world, view, scenario_of(line));
    std::string text;
    if (!slices) return slices.error().message;
    for (const auto& slice : *slices) text += slice ? 'x' : '-';
    return text;
  };
  EXPECT_EQ(moved("slice=1g.5gb/08:00-20:00"), "x--");
  EXPECT_EQ(moved("slice=1g.5gb/20:00-08:00"), "-xx");
  EXPECT_NE(moved("slice=1g.5gb/12:00-13:00").find("that comes in that part of the day"),
            std::string::npos);
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
