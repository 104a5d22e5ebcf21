#include "insight/advice/advise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "insight/advice/activity_profile.h"
#include "insight/advice/advice_world_testing.h"
#include "insight/advice/formulas/commitment.h"
#include "insight/compare/policy_costs.h"

namespace pennyweight::advising {
namespace {

using std::chrono::hours;

const Proposal* find(const Advice& advice, AdviceKind kind) {
  const auto at = std::ranges::find(advice.proposals, kind, &Proposal::kind);
  return at == advice.proposals.end() ? nullptr : &*at;
}

bool has_gap(const Advice& advice, std::string_view text) {
  return std::ranges::any_of(
      advice.gaps, [&](const std::string& gap) { return gap.find(text) != std::string::npos; });
}

Money usd(const char* amount) {
  return Money::from_decimal(parse_exact_decimal(amount).value(), kUsd);
}

// Held all month, never, and for the first ten days; and one on a commitment, never held.
World four_nodes() {
  World world;
  world.add_node("a", "gpu", "", 4, "10");
  world.add_node("b", "gpu", "", 4, "8");
  world.add_node("c", "gpu", "", 4, "8");
  world.add_node("d", "gpu", "", 4, "5", PricingCategory::kCommitted);
  world.hold("job-a", 0, static_cast<int>(kHours), "a");
  world.hold("job-c", 0, 240, "c");
  return world;
}

TEST(Advise, WhatNobodyHeldIsSavedToTheTick) {
  const Advice advice = four_nodes().advise();
  ASSERT_EQ(advice.proposals.size(), 2u);
  const Proposal* unneeded = find(advice, AdviceKind::kUnneededNodes);
  ASSERT_NE(unneeded, nullptr);
  EXPECT_EQ(unneeded->observed, usd("5952"));          // 744 h at 8
  EXPECT_EQ(unneeded->monthly.expected, usd("5840"));  // 730 h at 8
  EXPECT_EQ(unneeded->monthly.high, usd("5840"));
  // A node of the pool in reserve: the first of the two at 8 that are free.
  EXPECT_EQ(unneeded->monthly.low, usd("0"));
  EXPECT_EQ(unneeded->apply, "# Drain these nodes and end their instances: b\n");
  EXPECT_EQ(unneeded->confidence, Confidence::kHigh);
  const Proposal* scale_down = find(advice, AdviceKind::kScaleDown);
  ASSERT_NE(scale_down, nullptr);
  EXPECT_EQ(scale_down->observed, usd("4024"));  // 504 h, less the first
}

// What left cannot be given back.
TEST(Advise, NothingIsSaidOfNodesThatAreGone) {
  World world = four_nodes();
  for (Node& node : world.nodes) {
    if (node.name == NodeId("b") || node.name == NodeId("c")) node.to = kMarch + hours(480);
  }
  // Others of their pool and type are there: such nodes may come back, and go sooner.
  const Advice some = world.advise();
  EXPECT_EQ(find(some, AdviceKind::kUnneededNodes), nullptr);
  ASSERT_NE(find(some, AdviceKind::kScaleDown), nullptr);
  EXPECT_EQ(find(some, AdviceKind::kScaleDown)->observed, usd("1912"));  // c: 239 h at 8
  EXPECT_TRUE(has_gap(some, "a node that no hour, or hardly any, needed is gone"));
  for (Node& node : world.nodes) {
    if (node.to) node.instance_type = "gone";
  }
  const Advice none = world.advise();
  EXPECT_TRUE(none.proposals.empty());
  EXPECT_TRUE(has_gap(none, "2 nodes that no hour, or hardly any, needed are gone"));
}

TEST(Advise, PartitionsWithTheNamesOfPoolsAreNoted) {
  World world = four_nodes();
  world.nodes[1].pool = PoolId("long");
  EXPECT_FALSE(has_gap(world.advise(), "partitions_are_pools"));
  Holding& job = world.add_holding("job-d", 0, 10, InPool{{}, 1});
  job.labels.set("partition", "long").value();
  EXPECT_TRUE(has_gap(world.advise(), "1 job names a partition that is also the name of a pool"));
  world.holdings.back().placement = InPool{{PoolId("long")}, 1};
  EXPECT_FALSE(has_gap(world.advise(), "partitions_are_pools"));
}

TEST(Advise, ThePortfolioIsWhatTheEngineSaysOfTheChangedBill) {
  World world = four_nodes();
  const Advice advice = world.advise();
  const Portfolio portfolio = combine(advice.proposals);
  ASSERT_EQ(portfolio.totals.size(), 1u);
  EXPECT_EQ(portfolio.totals[0].expected,
            scaled(usd("5952") + usd("4024"), kHoursPerMonth, kHours));
  const auto cost_of = [](const World& of) {
    const ComparedCluster cluster{.facts = of.month()};
    const auto costs = policy_costs(std::span(&cluster, 1), of.policy, {.month = "2026-03"});
    EXPECT_TRUE(costs.has_value());
    std::map<std::string, Money> sums;
    for (const CostPart& part : costs->front().parts) {
      const std::string key = part.workload.empty() ? std::string(part.bucket) : "work";
      sums.try_emplace(key, Money::zero(kUsd)).first->second += part.cost;
      sums.try_emplace("all", Money::zero(kUsd)).first->second += part.cost;
    }
    return sums;
  };
  const auto before = cost_of(world);
  // Node b goes, and c after its eleventh hour without a holder.
  std::erase_if(world.nodes, [](const Node& node) { return node.name == NodeId("b"); });
  std::erase_if(world.charges, [](const Charge& charge) { return charge.resource_id == "i-b"; });
  std::vector<Charge> kept;
  const Instant gone = kMarch + hours(241);
  for (Charge& charge : world.charges) {
    if (charge.resource_id == "i-c" && charge.charge_period.end() > gone) {
      const auto left = Interval::of(charge.charge_period.begin(), gone);
      if (!left) continue;
      for (Money Costs::* cost :
           {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
        charge.costs.*cost =
            scaled(charge.costs.*cost, left->length_ms(), charge.charge_period.length_ms());
      }
      charge.charge_period = *left;
    }
    kept.push_back(charge);
  }
  world.charges = kept;
  for (Node& node : world.nodes) {
    if (node.name == NodeId("c")) node.to = gone;
  }
  const auto after = cost_of(world);
  EXPECT_EQ(before.at("all") - after.at("all"), usd("9976"));
  EXPECT_EQ(before.at("unallocated") - after.at("unallocated"), usd("9976"));
  EXPECT_EQ(before.at("work"), after.at("work"));  // nobody who worked pays more or less
}

TEST(Advise, ACommitmentThatIsPaidIsNotSaved) {
  World world;
  world.add_node("a", "gpu", "", 4, "10", PricingCategory::kCommitted);
  world.add_node("b", "gpu", "", 4, "10", PricingCategory::kCommitted);
  world.hold("job", 0, static_cast<int>(kHours), "a");
  EXPECT_TRUE(world.advise().proposals.empty());
  for (Charge& charge : world.charges) {
    if (charge.resource_id == "i-b") {
      charge.commitment_discount_id = "ri-1";
      charge.commitment_discount_status = UsedOrUnused::kUnused;
    }
  }
  const Advice advice = world.advise();
  ASSERT_EQ(advice.proposals.size(), 1u);
  EXPECT_EQ(advice.proposals[0].kind, AdviceKind::kUnusedCommitment);
  EXPECT_EQ(advice.proposals[0].monthly.expected, usd("0"));
  EXPECT_EQ(advice.proposals[0].monthly.high, usd("7300"));
}

TEST(Advise, NothingIsSaidWhereRecordsAreMissing) {
  World world;
  world.add_node("a", "gpu", "", 4, "10");
  world.add_node("b", "gpu", "", 4, "10");
  // Five days of records, and one around them: too few.
  world.hold("job", 0, 120, "a");
  Advice advice = world.advise();
  EXPECT_TRUE(advice.proposals.empty());
  EXPECT_TRUE(has_gap(advice, "import what ran"));
  // An export of ten days with ten jobs a day, of which one still runs: the other days are unknown.
  for (int day = 0; day < 10; ++day) {
    for (int n = 0; n < 20; ++n) {
      world.hold(fmt::format("{}-{}", day, n), day * 24 + n, day * 24 + n + 1, "a");
    }
  }
  world.hold("long", 10, static_cast<int>(kHours), "a");
  advice = world.advise();
  const Proposal* unneeded = find(advice, AdviceKind::kUnneededNodes);
  ASSERT_NE(unneeded, nullptr);
  // The last job begins in the hour 235; a day later the records end.
  EXPECT_EQ(unneeded->observed, usd("2600"));
  EXPECT_EQ(unneeded->monthly.expected, usd("7300"));
  EXPECT_EQ(unneeded->confidence, Confidence::kMedium);
  EXPECT_EQ(find(advice, AdviceKind::kScaleDown), nullptr);
}

// An export of February, one job of which runs on until the 20th of March, says nothing of March.
TEST(Advise, RecordsOfAnEarlierMonthSayNothing) {
  World world;
  world.add_node("a", "gpu", "", 4, "10");
  world.add_node("b", "gpu", "", 4, "10");
  world.hold("team/job", -100, 20 * 24, "a");
  EXPECT_TRUE(world.advise().proposals.empty());
  // A job that begins in March shows that the records go on.
  world.hold("team/next", 20 * 24, static_cast<int>(kHours), "a");
  EXPECT_EQ(world.advise().proposals.size(), 1u);
}

TEST(Advise, SystemPodsNeedNoNodeAndAnOutageIsNotIdle) {
  World world;
  world.add_node("a", "gpu", "", 4, "10");
  world.add_node("b", "gpu", "", 4, "10");
  world.add_node("c", "gpu", "", 4, "10");
  world.hold("team/job", 0, static_cast<int>(kHours), "a");
  world.hold("kube-system/agent", 0, static_cast<int>(kHours), "b");
  ASSERT_TRUE(world.holdings.back().labels.set("namespace", "kube-system").has_value());
  world.outages.emplace_back(ClusterId("lab"), NodeId("c"), Interval(kMarch, kApril));
  const Advice advice = world.advise();
  ASSERT_EQ(advice.proposals.size(), 1u);
  EXPECT_EQ(advice.proposals[0].apply,
            "kubectl cordon b\n"
            "kubectl drain b --ignore-daemonsets --delete-emptydir-data\n"
            "# Then end their instances, and lower the size of their node group by 1.\n");
}

TEST(Advise, APoolKeepsWhatItsJobsHeldAndAReserve) {
  World world;
  for (int i = 0; i < 10; ++i) world.add_node(fmt::format("n{}", i), "gpu", "", 4, "10");
  world.hold_in_pool("steady", 0, static_cast<int>(kHours), "gpu", 10);
  world.hold_in_pool("peak", 100, 110, "gpu", 10);  // 20 GPUs at the peak: 5 nodes, 6 with 10 %
  const Advice advice = world.advise();
  const Proposal* unneeded = find(advice, AdviceKind::kUnneededNodes);
  ASSERT_NE(unneeded, nullptr);
  EXPECT_EQ(unneeded->change, "Give back 4 nodes that no hour needed");
  EXPECT_EQ(unneeded->monthly.expected, usd("29200"));
  EXPECT_EQ(unneeded->confidence, Confidence::kMedium);
  // Two more nodes are needed only around the peak: 3 hold 10 GPUs and 10 %.
  const Proposal* scale_down = find(advice, AdviceKind::kScaleDown);
  ASSERT_NE(scale_down, nullptr);
  EXPECT_EQ(scale_down->observed, usd("21960"));  // 3 nodes, 744 h less 10 of the peak and 2 first
  for (const Proposal& each : advice.proposals) {
    EXPECT_LE(each.monthly.low.ticks(), each.monthly.expected.ticks());
    EXPECT_LE(each.monthly.expected.ticks(), each.monthly.high.ticks());
  }
}

TEST(Advise, CommitmentsComeFromTheHoursThatRemain) {
  World world;
  world.catalog =
      Catalog::built_in()
          .overridden_by(
              "provider,region,instance_type,option,from,per_hour,currency,gpu_model,"
              "gpu_count,vcpu,memory_gib\n"
              "made,us-central1,box.4,on_demand,2026-01-01,10,USD,V100-SXM2-16GB,4,8,64\n"
              "made,us-central1,box.4,committed_1y,2026-01-01,6,USD,V100-SXM2-16GB,4,8,64\n"
              "made,us-central1,box.4,committed_3y,2026-01-01,4,USD,V100-SXM2-16GB,4,8,64\n",
              "prices.csv")
          .value();
  for (int i = 0; i < 4; ++i) {
    // A tenth less than the list price is paid, so a commitment is taken to cost a tenth less too.
    world.add_node(fmt::format("n{}", i), "gpu", "box.4", 4, "9");
    for (int day = 0; day < kDays; ++day) {
      world.hold(fmt::format("job{}-{}", i, day), day * 24, day * 24 + 6 * (i + 1),
                 fmt::format("n{}", i));
    }
  }
  const Advice advice = world.advise();
  const Portfolio portfolio = combine(advice.proposals);
  std::vector<const Proposal*> commitments;
  for (const Proposal& each : advice.proposals) {
    if (each.kind == AdviceKind::kCommitment) commitments.push_back(&each);
  }
  ASSERT_EQ(commitments.size(), 2u);
  // Each node stays an hour after its last holder. Brute force over the demand of these hours:
  std::vector<std::uint64_t> demand(kHours);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t hour = 0; hour < kHours; ++hour) {
      if (hour % 24 < 6 * (i + 1) + 1) ++demand[hour];
    }
  }
  const CommitmentPrices one_year{Decimal::from_units(9), parse_exact_decimal("5.4").value()};
  Decimal best = commitment_cost(demand, one_year, 0);
  const Decimal without = best;
  for (std::uint64_t units = 1; units <= 4; ++units) {
    best = std::min(best, commitment_cost(demand, one_year, units));
  }
  const auto is_year = [](const Proposal* each) { return each->subject.ends_with("1 year"); };
  const Proposal* year = *std::ranges::find_if(commitments, is_year);
  EXPECT_EQ(year->observed,
            Money::from_decimal(Decimal::from_ticks(without.ticks() - best.ticks()), kUsd));
  EXPECT_EQ(year->change, "Commit to 2 box.4 for 1 year");
  // For three years not more than what every hour needed: one node.
  const Proposal* three = *std::ranges::find_if_not(commitments, is_year);
  EXPECT_EQ(three->change, "Commit to 1 box.4 for 3 years");
  EXPECT_EQ(three->observed, usd("4017.6"));  // 744 h at 9 less 3.6
  // Of both only one counts.
  EXPECT_EQ(std::count(portfolio.chosen.begin(), portfolio.chosen.end(), false), 1);
  // The bill is never saved more than it is.
  EXPECT_LT(portfolio.totals[0].expected.ticks(), usd("26280").ticks());
  // Nobody commits for a year to what the last week no longer needed.
  std::erase_if(world.holdings, [](const Holding& holding) {
    return !holding.workload.text().starts_with("job3") &&
           holding.held.begin() >= kMarch + hours(24 * 24);
  });
  const Advice ended = world.advise();
  const auto less = std::ranges::find_if(ended.proposals, [&](const Proposal& each) {
    return each.kind == AdviceKind::kCommitment && is_year(&each);
  });
  ASSERT_NE(less, ended.proposals.end());
  EXPECT_EQ(less->change, "Commit to 1 box.4 for 1 year");
}

TEST(Advise, AnIdIsTheSameInEveryMonth) {
  const Advice one = four_nodes().advise();
  World other = four_nodes();
  other.hold("more", 300, 400, "c");
  const Advice two = other.advise();
  EXPECT_EQ(find(one, AdviceKind::kScaleDown)->id, find(two, AdviceKind::kScaleDown)->id);
  EXPECT_NE(find(one, AdviceKind::kScaleDown)->id, find(one, AdviceKind::kUnneededNodes)->id);
}

TEST(Advise, TheOrderOfFactsChangesNothing) {
  World world = four_nodes();
  const Advice one = world.advise();
  std::ranges::reverse(world.nodes);
  std::ranges::reverse(world.charges);
  std::ranges::reverse(world.holdings);
  const Advice two = world.advise();
  ASSERT_EQ(one.proposals.size(), two.proposals.size());
  for (std::size_t i = 0; i < one.proposals.size(); ++i) {
    EXPECT_EQ(one.proposals[i].id, two.proposals[i].id);
    EXPECT_EQ(one.proposals[i].monthly.expected, two.proposals[i].monthly.expected);
    EXPECT_EQ(one.proposals[i].evidence, two.proposals[i].evidence);
  }
}

constexpr int kAllHours = static_cast<int>(kHours);

TEST(Idle, AnOnDemandNodeThatOnlyIdleWorkHeldIsSaved) {
  Work work;
  work.add_machine("a", 1, "10");
  work.hold_gpu("ml/notebook", "ann", "GPU-a0");
  work.run("GPU-a0", 0, 100, 800'000);
  work.run("GPU-a0", 100, kAllHours, 9'999);
  const Advice advice = work.advise();
  const Proposal* idle = find(advice, AdviceKind::kIdle);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->subject, "user ann");
  EXPECT_EQ(idle->observed, usd("6430"));  // 644 h without activity, less the first
  EXPECT_EQ(idle->moved, usd("0"));
  EXPECT_EQ(idle->confidence, Confidence::kHigh);
  EXPECT_EQ(idle->workload, WorkloadId("ml/notebook"));
}

TEST(Idle, WhatOnlyMovesIsNoSaving) {
  Work work;
  work.add_machine("a", 2, "10");
  work.hold_gpu("ml/notebook", "ann", "GPU-a0");
  work.hold_gpu("ml/train", "bo", "GPU-a1");
  work.run("GPU-a0", 0, kAllHours, 0);
  work.run("GPU-a1", 0, kAllHours, 900'000);
  const Advice advice = work.advise();
  const Proposal* idle = find(advice, AdviceKind::kIdle);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->monthly.expected, usd("0"));
  EXPECT_EQ(idle->moved, usd("3715"));  // 743 h of half the node
  EXPECT_EQ(idle->monthly.high, scaled(usd("3715"), kHoursPerMonth, kHours));

  // Paid anyway: the same.
  Work committed;
  committed.add_machine("a", 1, "10", PricingCategory::kCommitted);
  committed.hold_gpu("ml/notebook", "ann", "GPU-a0");
  committed.run("GPU-a0", 0, kAllHours, 0);
  EXPECT_EQ(find(committed.advise(), AdviceKind::kIdle)->monthly.expected, usd("0"));
}

TEST(Idle, ANodeGoesOnlyWhenEveryHolderIsIdle) {
  Work work;
  work.add_machine("a", 2, "10");
  work.hold_gpu("ml/one", "ann", "GPU-a0");
  work.hold_gpu("ml/two", "bo", "GPU-a1");
  work.run("GPU-a0", 0, kAllHours, 0);
  work.run("GPU-a1", 0, 300, 900'000);
  work.run("GPU-a1", 300, kAllHours, 0);
  Money saved = usd("0");
  for (const Proposal& each : work.advise().proposals) {
    EXPECT_EQ(each.kind, AdviceKind::kIdle);
    saved += each.observed;
  }
  EXPECT_EQ(saved, usd("4430"));  // from hour 301 on, shared by both
}

TEST(Idle, UnseenImpossibleOrDoubtfulIsNotIdle) {
  Work unseen;
  unseen.add_machine("a", 1, "10");
  unseen.hold_gpu("ml/notebook", "ann", "GPU-a0");
  unseen.run("GPU-a0", 0, 300, 0);
  EXPECT_EQ(find(unseen.advise(), AdviceKind::kIdle), nullptr);

  Work none;
  none.add_machine("a", 1, "10");
  none.hold_gpu("ml/notebook", "ann", "GPU-a0");
  EXPECT_TRUE(has_gap(none.advise(), "no telemetry"));

  Work impossible;
  impossible.add_machine("a", 1, "10");
  impossible.hold_gpu("ml/notebook", "ann", "GPU-a0");
  impossible.run("GPU-a0", 0, kAllHours, 1'000'001);
  EXPECT_TRUE(has_gap(impossible.advise(), "impossible"));
  EXPECT_TRUE(impossible.advise().proposals.empty());

  // GPU_UTIL alone may be a broken exporter's zero; beside a reading of memory it counts.
  Work util;
  util.add_machine("a", 1, "10");
  util.hold_gpu("ml/notebook", "ann", "GPU-a0");
  for (int hour = 0; hour < kAllHours; ++hour) util.sample("GPU-a0", hour).gpu_util_ppm = 0;
  EXPECT_EQ(find(util.advise(), AdviceKind::kIdle), nullptr);
  for (Usage& usage : util.usages) usage.memory_used_bytes = 1 << 30;
  EXPECT_NE(find(util.advise(), AdviceKind::kIdle), nullptr);

  // An hour without activity is not an idle GPU.
  Work pauses;
  pauses.add_machine("a", 1, "10");
  pauses.hold_gpu("ml/train", "ann", "GPU-a0");
  for (int hour = 0; hour < kAllHours; ++hour) {
    pauses.sample("GPU-a0", hour).sm_active_ppm = hour % 2 == 0 ? 0 : 900'000;
  }
  EXPECT_EQ(find(pauses.advise(), AdviceKind::kIdle), nullptr);
}

Work light_work() {
  Work work;
  work.catalog =
      Catalog::built_in()
          .overridden_by(
              "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,"
              "vcpu,memory_gib\n"
              "made,us-central1,big.1,on_demand,2026-01-01,4,USD,A100-SXM4-80GB,1,8,64\n"
              "made,us-central1,mid.1,on_demand,2026-01-01,1.9,USD,L40S,1,8,64\n"
              "made,us-central1,old.1,on_demand,2026-01-01,0.5,USD,V100-SXM2-32GB,1,8,64\n"
              "made,us-central1,low.1,on_demand,2026-01-01,0.8,USD,L4,1,8,64\n",
              "prices.csv")
          .value();
  work.add_machine("a", 1, "4", PricingCategory::kStandard, "big.1", "A100-SXM4-80GB");
  work.hold_gpu("ml/api", "ann", "GPU-a0");
  for (int hour = 0; hour < kAllHours; ++hour) {
    Usage& usage = work.sample("GPU-a0", hour);
    usage.sm_active_ppm = 350'000;
    usage.dram_active_ppm = 250'000;
    usage.memory_used_bytes = 18ull << 30;
  }
  return work;
}

TEST(RightSize, TheL40SOfTheWorkedExample) {
  const Advice advice = light_work().advise();
  const Proposal* smaller = find(advice, AdviceKind::kRightSize);
  ASSERT_NE(smaller, nullptr);
  // The L4 would be too slow and the V100 has no BF16.
  EXPECT_EQ(smaller->change, "Run it on L40S instead of A100-SXM4-80GB");
  EXPECT_EQ(smaller->observed, usd("1562.4"));  // 744 h at 4, less 52.5 %
  EXPECT_EQ(smaller->basis, SavingBasis::kListPrice);
  EXPECT_EQ(smaller->evidence[2],
            "there it would need 30.2 % of the compute and 59.0 % of the bandwidth, and take "
            "100.0 % of the time");
}

TEST(Idle, WhatGoesIsNotCommittedToAsWell) {
  Work work = light_work();
  const Catalog with_commitments =
      work.catalog
          .overridden_by(
              "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,"
              "vcpu,memory_gib\n"
              "made,us-central1,big.1,committed_1y,2026-01-01,2,USD,A100-SXM4-80GB,1,8,64\n",
              "more.csv")
          .value();
  work.catalog = with_commitments;
  // Busy: a smaller GPU saves 1562.4, a commitment to the larger one 1488. Only one can be.
  Advice advice = work.advise();
  Portfolio portfolio = combine(advice.proposals);
  ASSERT_EQ(advice.proposals.size(), 2u);
  ASSERT_EQ(portfolio.totals.size(), 1u);
  EXPECT_EQ(portfolio.totals[0].expected, scaled(usd("1562.4"), kHoursPerMonth, kHours));
  // Idle all month: it goes after an hour, and nothing is left to commit to.
  for (Usage& usage : work.usages) usage.sm_active_ppm = 0;
  advice = work.advise();
  EXPECT_EQ(find(advice, AdviceKind::kIdle)->observed, usd("2972"));
  EXPECT_EQ(find(advice, AdviceKind::kCommitment), nullptr);
  portfolio = combine(advice.proposals);
  EXPECT_LE(portfolio.totals[0].expected.ticks(), usd("2920").ticks());  // the month's bill
}

TEST(RightSize, NeverFromGpuUtilOrThreeSamples) {
  Work work = light_work();
  for (Usage& usage : work.usages) {
    usage.gpu_util_ppm = usage.sm_active_ppm;
    usage.sm_active_ppm.reset();
  }
  EXPECT_EQ(find(work.advise(), AdviceKind::kRightSize), nullptr);
  EXPECT_TRUE(has_gap(work.advise(), "DCGM_FI_PROF_SM_ACTIVE"));
  work = light_work();
  work.usages.erase(work.usages.begin() + 3, work.usages.end());
  EXPECT_EQ(find(work.advise(), AdviceKind::kRightSize), nullptr);
  work = light_work();
  work.nodes[0].instance_type = "unknown.1";
  EXPECT_TRUE(has_gap(work.advise(), "no list price of 'unknown.1'"));
}

TEST(RightSize, MemoryAndPeaksForbidIt) {
  Work work = light_work();
  for (Usage& usage : work.usages) usage.memory_used_bytes = 41ull << 30;
  EXPECT_EQ(find(work.advise(), AdviceKind::kRightSize), nullptr);
  work = light_work();
  for (std::size_t i = 0; i < work.usages.size(); i += 10) {
    work.usages[i].sm_active_ppm = 510'000;  // a tenth of the time
  }
  EXPECT_EQ(find(work.advise(), AdviceKind::kRightSize), nullptr);
}

TEST(Profiles, MergeExactly) {
  TimeBins whole(kActivityBinPpm);
  TimeBins left(kActivityBinPpm);
  TimeBins right(kActivityBinPpm);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t value = i * 7919 % 1'000'001;
    whole.add(value, i + 1);
    (i % 3 == 0 ? left : right).add(value, i + 1);
  }
  TimeBins merged = right;
  merged.merge(left);
  EXPECT_EQ(merged, whole);
  EXPECT_EQ(merged.mean(), whole.mean());
  EXPECT_EQ(merged.quantile(950), whole.quantile(950));
  TimeBins simple(10);
  simple.add(5, 90);
  simple.add(95, 10);
  EXPECT_EQ(simple.mean(), 14u);
  EXPECT_EQ(simple.quantile(900), 10u);
  EXPECT_EQ(simple.quantile(901), 100u);
  EXPECT_EQ(simple.peak(), 95u);
}

}  // namespace
}  // namespace pennyweight::advising
