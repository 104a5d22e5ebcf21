// MIG layouts, spot capacity and time limits as a whole, and what excludes what.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "insight/advice/advice_world_testing.h"

namespace pennyweight::advising {
namespace {

const Proposal* first_of(const Advice& advice, AdviceKind kind) {
  const auto at = std::ranges::find(advice.proposals, kind, &Proposal::kind);
  return at == advice.proposals.end() ? nullptr : &*at;
}

Money dollars(std::int64_t amount) {
  return Money::from_decimal(Decimal::from_units(amount), kUsd);
}

// Three nodes of one A100 at 10 an hour, each with a service that uses a tenth and 6 GiB of it.
Work three_services() {
  Work work;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("n{}", i);
    work.add_machine(name, 1, "10", PricingCategory::kStandard, "", "A100-SXM4-80GB");
    work.hold_gpu(fmt::format("ml/api{}", i), "ann", fmt::format("GPU-{}0", name));
    for (int hour = 0; hour < static_cast<int>(kHours); ++hour) {
      Usage& usage = work.sample(fmt::format("GPU-{}0", name), hour);
      usage.sm_active_ppm = 100'000;
      usage.memory_used_bytes = 6ull << 30;
    }
  }
  return work;
}

TEST(MigPools, SmallServicesShareOneGpu) {
  const Advice advice = three_services().advise();
  const Proposal* layout = first_of(advice, AdviceKind::kMigLayout);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->change, "Cut the GPUs of 1 node with MIG, and give back the other 2 of 3");
  EXPECT_EQ(layout->observed, dollars(14'880));  // two nodes of 744 h at 10
  EXPECT_EQ(layout->nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(layout->apply,
            "version: v1\n"
            "mig-configs:\n"
            "  pennyweight-1:\n"
            "    - devices: [0]\n"
            "      mig-enabled: true\n"
            "      mig-devices:\n"
            "        \"1g.10gb\": 3\n"
            "# kubectl label node n0 nvidia.com/mig.config=pennyweight-1 --overwrite\n");
}

// docs/methods/advice.md
Work three_on_l40s() {
  Work work;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("n{}", i);
    work.add_machine(name, 1, "10", PricingCategory::kStandard, "", "L40S");
    work.hold_gpu(fmt::format("ml/api{}", i), "ann", fmt::format("GPU-{}0", name));
    work.holdings.back().labels.set("namespace", "ml").value();
    for (int hour = 0; hour < static_cast<int>(kHours); ++hour) {
      Usage& usage = work.sample(fmt::format("GPU-{}0", name), hour);
      usage.sm_active_ppm = 190'000;
      usage.memory_used_bytes = 6ull << 30;
    }
  }
  return work;
}

TEST(Sharing, AnyOfThemFitTogether) {
  const Advice advice = three_on_l40s().advise();
  EXPECT_EQ(first_of(advice, AdviceKind::kMigLayout), nullptr);
  const Proposal* share = first_of(advice, AdviceKind::kShare);
  ASSERT_NE(share, nullptr);
  // Three need one GPU by any number from three to the most that fit, four of 19 %; the least is
  // enough.
  EXPECT_EQ(share->change, "Let 3 workloads share a GPU, and give back 2 of 3 nodes");
  EXPECT_EQ(share->observed, dollars(14'880));  // two nodes of 744 h at 10
  EXPECT_EQ(share->nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_NE(share->apply.find("            replicas: 3\n"), std::string::npos);
  EXPECT_NE(share->apply.find("label node n0 nvidia.com/device-plugin.config=shared-by-3"),
            std::string::npos);
  // On GPUs with MIG there is a choice, and it counts once.
  const Advice both = three_services().advise();
  ASSERT_NE(first_of(both, AdviceKind::kShare), nullptr);
  EXPECT_EQ(combine(both.proposals).totals.at(0).expected,
            first_of(both, AdviceKind::kMigLayout)->monthly.expected);
}

TEST(Sharing, NotWhereItWouldBreakTheWork) {
  const auto shared = [](const std::function<void(Work&)>& change) {
    Work work = three_on_l40s();
    change(work);
    return first_of(work.advise(), AdviceKind::kShare) != nullptr;
  };
  EXPECT_TRUE(shared([](Work&) {}));
  EXPECT_FALSE(shared([](Work& busy) {
    for (Usage& usage : busy.usages) usage.sm_active_ppm = 410'000;
  }));
  EXPECT_FALSE(shared([](Work& full) {
    for (Usage& usage : full.usages) usage.memory_used_bytes = 22ull << 30;
  }));
  // One sample at the peak is enough: what finds no memory ends.
  EXPECT_FALSE(shared([](Work& peak) {
    for (std::size_t i = 5; i < peak.usages.size(); i += kHours) {
      peak.usages[i].memory_used_bytes = 25ull << 30;
    }
  }));
  EXPECT_FALSE(shared([](Work& util) {
    for (Usage& usage : util.usages) {
      usage.gpu_util_ppm = usage.sm_active_ppm;
      usage.sm_active_ppm.reset();
    }
  }));
  EXPECT_FALSE(shared([](Work& half) {
    std::erase_if(half.usages, [](const Usage& usage) {
      return usage.at.time_since_epoch() % std::chrono::hours(2) == std::chrono::hours(0);
    });
  }));
  EXPECT_FALSE(shared([](Work& paid) {
    for (Charge& charge : paid.charges) charge.pricing_category = PricingCategory::kCommitted;
  }));
  EXPECT_FALSE(shared([](Work& already) {
    for (Node& node : already.nodes) {
      node.sharing = GpuSharing::kTimeSlicing;
      node.gpu_replicas = 4;
    }
  }));
  EXPECT_FALSE(shared([](Work& neighbours) {
    for (int i = 0; i < 3; ++i) {
      neighbours.hold(fmt::format("other{}", i), 0, 10, fmt::format("n{}", i));
    }
  }));
}

TEST(MigPools, NotWhereSomethingElseRunsOrMemoryIsFull) {
  Work busy = three_services();
  for (Usage& usage : busy.usages) usage.sm_active_ppm = 900'000;
  EXPECT_EQ(first_of(busy.advise(), AdviceKind::kMigLayout), nullptr);
  Work full = three_services();
  for (Usage& usage : full.usages) usage.memory_used_bytes = 70ull << 30;
  EXPECT_EQ(first_of(full.advise(), AdviceKind::kMigLayout), nullptr);
  // One sample at the peak is enough: an instance that runs out of memory ends its work.
  Work peak = three_services();
  for (std::size_t i = 5; i < peak.usages.size(); i += kHours) {
    peak.usages[i].memory_used_bytes = 75ull << 30;
  }
  EXPECT_EQ(first_of(peak.advise(), AdviceKind::kMigLayout), nullptr);
  Work util = three_services();
  for (Usage& usage : util.usages) {
    usage.gpu_util_ppm = usage.sm_active_ppm;
    usage.sm_active_ppm.reset();
  }
  EXPECT_EQ(first_of(util.advise(), AdviceKind::kMigLayout), nullptr);
  Work neighbours = three_services();
  for (int i = 0; i < 3; ++i) {
    neighbours.hold(fmt::format("other{}", i), 0, 10, fmt::format("n{}", i));
  }
  EXPECT_EQ(first_of(neighbours.advise(), AdviceKind::kMigLayout), nullptr);
}

Work checkpointed() {
  Work work;
  work.catalog =
      Catalog::built_in()
          .overridden_by(
              "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,"
              "vcpu,memory_gib\n"
              "made,us-central1,box.1,on_demand,2026-01-01,10,USD,A100-SXM4-80GB,1,8,64\n"
              "made,us-central1,box.1,spot,2026-01-01,4,USD,A100-SXM4-80GB,1,8,64\n",
              "prices.csv")
          .value();
  work.add_machine("a", 1, "9", PricingCategory::kStandard, "box.1", "A100-SXM4-80GB");
  Holding& holding = work.hold_gpu("ml/train", "ann", "GPU-a0");
  holding.labels.set("checkpoint", "Yes").value();
  return work;
}

TEST(Spot, WorkThatCanBeInterrupted) {
  const Proposal spot = *first_of(checkpointed().advise(), AdviceKind::kSpot);
  // Saved every 20 minutes, 1.2586 hours are paid for one: 4 × 1.2586 instead of 10, and that of
  // what is paid, 744 hours at 9.
  EXPECT_EQ(spot.change, "Run it on spot capacity, and save it every 20 minutes of work");
  EXPECT_GT(spot.observed.ticks(), dollars(3325).ticks());
  EXPECT_LT(spot.observed.ticks(), dollars(3326).ticks());
  EXPECT_LT(spot.monthly.low.ticks(), spot.monthly.expected.ticks());
  EXPECT_EQ(spot.confidence, Confidence::kLow);
  EXPECT_NE(spot.apply.find("node.kubernetes.io/instance-type: \"box.1\""), std::string::npos);
}

TEST(Spot, NotWithoutItsWordNorOnWhatIsPaidAnyway) {
  Work silent = checkpointed();
  silent.holdings[0].labels = {};
  silent.holdings[0].labels.set("checkpoint", "no").value();
  EXPECT_EQ(first_of(silent.advise(), AdviceKind::kSpot), nullptr);
  Work limited = checkpointed();
  limited.holdings[0].labels.set("time_limit_minutes", "44640").value();  // exactly the month
  EXPECT_EQ(first_of(limited.advise(), AdviceKind::kSpot), nullptr);
  for (const PricingCategory category : {PricingCategory::kCommitted, PricingCategory::kDynamic}) {
    Work paid = checkpointed();
    for (Charge& charge : paid.charges) charge.pricing_category = category;
    EXPECT_EQ(first_of(paid.advise(), AdviceKind::kSpot), nullptr);
  }
  Work unpriced = checkpointed();
  unpriced.nodes[0].instance_type = "box.unknown";
  const Advice advice = unpriced.advise();
  EXPECT_EQ(first_of(advice, AdviceKind::kSpot), nullptr);
  EXPECT_TRUE(std::ranges::any_of(advice.gaps, [](const std::string& gap) {
    return gap.find("no spot price is known") != std::string::npos;
  }));
}

TEST(Spot, InterruptionsAreThoseOfTheOwnFleet) {
  Work work = checkpointed();
  // Six spot nodes, each taken back after 100 hours from the job on it: one in 100 hours.
  for (int i = 0; i < 6; ++i) {
    const std::string name = fmt::format("s{}", i);
    work.add_machine(name, 1, "4", PricingCategory::kDynamic);
    work.nodes.back().to = kMarch + std::chrono::hours(100);
    work.hold(fmt::format("job{}", i), 0, 100, name);
  }
  const Proposal spot = *first_of(work.advise(), AdviceKind::kSpot);
  EXPECT_EQ(spot.confidence, Confidence::kMedium);
  EXPECT_NE(spot.evidence[2].find("as often as the cluster's own spot nodes have them"),
            std::string::npos)
      << spot.evidence[2];
  // Young/Daly of one interruption in 100 hours and saves of 2 minutes.
  EXPECT_NE(spot.change.find("every 153 minutes"), std::string::npos) << spot.change;
  EXPECT_GT(spot.observed.ticks(), dollars(3800).ticks());  // of at most 4017.6
}

TEST(TimeLimits, AFifthOfTheLimitIsUsed) {
  Work work;
  work.add_machine("a", 8, "10");
  const auto run = [&](const char* name, int from, int hours_held, const char* limit) {
    Holding& holding = work.add_holding(name, from, from + hours_held, OnNodes{{{NodeId("a"), 8}}});
    holding.labels.set("user", "ann").value();
    holding.labels.set("job_name", "train").value();
    holding.labels.set("time_limit_minutes", limit).value();
  };
  run("1", 0, 10, "4320");
  run("2", 20, 4, "4320");
  run("3", 40, 6, "4320");
  const Advice advice = work.advise();
  const Proposal* limit = first_of(advice, AdviceKind::kTimeLimit);
  ASSERT_NE(limit, nullptr);
  EXPECT_EQ(limit->change, "Ask for 15:00:00 instead of up to 3-00:00:00");
  EXPECT_EQ(limit->apply, "#SBATCH --time=15:00:00\n");
  EXPECT_EQ(limit->evidence[0], "3 runs used 160 of the 1728 GPU-hours that their limits allowed");
  EXPECT_TRUE(limit->monthly.high.is_zero());
  // Once it needed most of it.
  run("4", 100, 60, "4320");
  EXPECT_EQ(first_of(work.advise(), AdviceKind::kTimeLimit), nullptr);
}

Proposal made(std::string alternatives, std::vector<std::string> conflicts, std::int64_t saves) {
  const Money none = Money::zero(kUsd);
  Proposal proposal{.id = "",
                    .kind = AdviceKind::kIdle,
                    .cluster = ClusterId("lab"),
                    .subject = "",
                    .change = "",
                    .monthly = {none, dollars(saves), dollars(saves)},
                    .observed = dollars(saves),
                    .moved = none};
  proposal.alternatives_of = std::move(alternatives);
  proposal.conflicts_with = std::move(conflicts);
  return proposal;
}

TEST(Portfolio, TakesWhatSavesMostTogether) {
  // Two small changes exclude a commitment for one or three years.
  const std::vector<Proposal> proposals = {made("commit", {}, 100), made("commit", {}, 120),
                                           made("a", {"commit"}, 70), made("b", {"commit"}, 60),
                                           made("", {}, 5)};
  const Portfolio portfolio = combine(proposals);
  EXPECT_EQ(portfolio.chosen, (std::vector<bool>{false, false, true, true, true}));
  EXPECT_EQ(portfolio.totals[0].expected, dollars(135));
  // The same with so many that not all combinations are tried.
  std::vector<Proposal> many = {made("commit", {}, 1000)};
  for (int i = 0; i < 40; ++i) many.push_back(made(fmt::format("w{}", i), {"commit"}, 30));
  EXPECT_EQ(combine(many).totals[0].expected, dollars(1200));
  many[0] = made("commit", {}, 1300);
  EXPECT_EQ(combine(many).totals[0].expected, dollars(1300));
}

TEST(Portfolio, IsTheBestOfAllCombinations) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Proposal> proposals;
    const int count = 1 + static_cast<int>(random() % 10);
    const auto set = [&] { return fmt::format("{}", random() % 6); };
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> conflicts;
      for (std::uint64_t n = random() % 3; n > 0; --n) conflicts.push_back(set());
      proposals.push_back(made(set(), conflicts, static_cast<std::int64_t>(random() % 50)));
    }
    const auto excludes = [&](const Proposal& a, const Proposal& b) {
      return a.alternatives_of == b.alternatives_of ||
             std::ranges::count(a.conflicts_with, b.alternatives_of) > 0 ||
             std::ranges::count(b.conflicts_with, a.alternatives_of) > 0;
    };
    Money best = dollars(0);
    for (unsigned chosen = 0; chosen < (1u << count); ++chosen) {
      Money sum = dollars(0);
      bool is_possible = true;
      for (int i = 0; i < count && is_possible; ++i) {
        if ((chosen >> i & 1u) == 0) continue;
        sum += proposals[static_cast<std::size_t>(i)].monthly.expected;
        for (int j = 0; j < i; ++j) {
          is_possible = is_possible && ((chosen >> j & 1u) == 0 ||
                                        !excludes(proposals[static_cast<std::size_t>(i)],
                                                  proposals[static_cast<std::size_t>(j)]));
        }
      }
      if (is_possible && sum.ticks() > best.ticks()) best = sum;
    }
    const Portfolio portfolio = combine(proposals);
    EXPECT_EQ(portfolio.totals[0].expected, best) << round;
  }
}

// Four replicas on nodes of one GPU at 10 an hour, 55 % busy from 8 to 20 and 4 % at night.
Work service(const std::string& app) {
  Work work;
  for (int i = 0; i < 4; ++i) {
    const std::string name = fmt::format("s{}", i);
    work.add_machine(name, 1, "10", PricingCategory::kStandard, "", "A100-SXM4-80GB");
    Holding& holding =
        work.hold_gpu(fmt::format("ml/{}-{}", app, i), "ann", fmt::format("GPU-{}0", name));
    holding.labels = {};
    holding.labels.set("namespace", "ml").value();
    holding.labels.set("app", app).value();
    for (int hour = 0; hour < static_cast<int>(kHours); ++hour) {
      Usage& usage = work.sample(fmt::format("GPU-{}0", name), hour);
      usage.sm_active_ppm = hour % 24 >= 8 && hour % 24 < 20 ? 550'000 : 40'000;
      usage.memory_used_bytes = 50ull << 30;
    }
  }
  return work;
}

TEST(Autoscaling, ReplicasFollowTheDemand) {
  const Proposal advice = *first_of(service("serve").advise(), AdviceKind::kAutoscaling);
  EXPECT_EQ(advice.change, "Let its replicas follow the demand, from 1 to 4");
  // From 21 to 7 one replica is enough, and the first hour is kept: nine hours of 30 nights, six
  // hours before the first day and two after the last, 278 in all, of three nodes.
  EXPECT_EQ(advice.observed, dollars(278 * 3 * 10));
  EXPECT_LT(advice.monthly.low.ticks(), advice.monthly.expected.ticks());
  EXPECT_GT(advice.monthly.high.ticks(), advice.monthly.expected.ticks());
  EXPECT_NE(advice.apply.find("kind: HorizontalPodAutoscaler"), std::string::npos);
  EXPECT_NE(advice.apply.find("  minReplicas: 1\n  maxReplicas: 4\n"), std::string::npos);
  EXPECT_NE(advice.apply.find("averageValue: 600m"), std::string::npos);
}

TEST(Autoscaling, OnlyOfServicesThatAreSeenAndOnDemand) {
  EXPECT_EQ(first_of(service("train").advise(), AdviceKind::kAutoscaling), nullptr);
  Work busy = service("serve");
  for (Usage& usage : busy.usages) usage.sm_active_ppm = 550'000;
  EXPECT_EQ(first_of(busy.advise(), AdviceKind::kAutoscaling), nullptr);
  // GPU_UTIL doesn't say how much of a GPU is busy.
  Work util = service("serve");
  for (Usage& usage : util.usages) {
    usage.gpu_util_ppm = usage.sm_active_ppm;
    usage.sm_active_ppm.reset();
  }
  EXPECT_EQ(first_of(util.advise(), AdviceKind::kAutoscaling), nullptr);
  // Of one replica nothing is seen: it may be the busy one.
  Work unseen = service("serve");
  std::erase_if(unseen.usages, [](const Usage& usage) { return usage.gpu == GpuId("GPU-s10"); });
  EXPECT_EQ(first_of(unseen.advise(), AdviceKind::kAutoscaling), nullptr);
  Work committed = service("serve");
  for (Charge& charge : committed.charges) charge.pricing_category = PricingCategory::kCommitted;
  EXPECT_EQ(first_of(committed.advise(), AdviceKind::kAutoscaling), nullptr);
  Work jobs = service("serve");
  for (Holding& holding : jobs.holdings) {
    holding.labels = {};
    holding.labels.set("job_name", "serve").value();
  }
  EXPECT_EQ(first_of(jobs.advise(), AdviceKind::kAutoscaling), nullptr);
}

TEST(Zombies, WorkThatStillRunsAndDoesNothing) {
  const auto fleet = [](int idle_from, bool ended, const char* app) {
    Work work;
    work.add_machine("z", 1, "10", PricingCategory::kStandard, "", "A100-SXM4-80GB");
    Holding& holding = work.hold_gpu("ml/z", "ann", "GPU-z0");
    holding.labels.set("namespace", "ml").value();
    holding.labels.set("app", app).value();
    holding.ended = ended;
    work.run("GPU-z0", 0, idle_from, 700'000);
    work.run("GPU-z0", idle_from, static_cast<int>(kHours), 0);
    return work.advise();
  };
  const Advice advice = fleet(644, false, "api");
  const Proposal* zombie = first_of(advice, AdviceKind::kZombie);
  ASSERT_NE(zombie, nullptr);
  EXPECT_EQ(zombie->subject, "work ml/api");
  EXPECT_EQ(zombie->observed, dollars(990));  // 99 hours of the 100, the first is not counted
  EXPECT_EQ(zombie->apply,
            "kubectl -n ml scale deployment api --replicas=0\n"
            "# It comes back with as many replicas as it had.\n");
  EXPECT_EQ(first_of(advice, AdviceKind::kIdle), nullptr);  // not twice
  // Idle, and no zombie: it ended, is a session, or has rested for less than three days.
  for (const Advice& other :
       {fleet(644, true, "api"), fleet(644, false, "notebook"), fleet(694, false, "api")}) {
    EXPECT_EQ(first_of(other, AdviceKind::kZombie), nullptr);
    EXPECT_NE(first_of(other, AdviceKind::kIdle), nullptr);
  }
}

// Two replicas of ml/api; the first has done nothing for 100 hours, the second is busy until then
// or to the end.
Work replicas(bool is_second_busy) {
  Work work;
  for (const char* name : {"y", "z"}) {
    const std::string gpu = fmt::format("GPU-{}0", name);
    work.add_machine(name, 1, "10", PricingCategory::kStandard, "", "A100-SXM4-80GB");
    Holding& holding = work.hold_gpu(fmt::format("ml/api-{}", name), "ann", gpu);
    holding.labels.set("namespace", "ml").value();
    holding.labels.set("app", "api").value();
    holding.ended = false;
  }
  const int end = static_cast<int>(kHours);
  work.run("GPU-y0", 0, 644, 700'000);
  work.run("GPU-y0", 644, end, 0);
  work.run("GPU-z0", 0, 644, 700'000);
  work.run("GPU-z0", 644, end, is_second_busy ? 700'000 : 0);
  return work;
}

TEST(Zombies, OneBusyReplicaKeepsTheWork) {
  const Advice both = replicas(false).advise();
  ASSERT_NE(first_of(both, AdviceKind::kZombie), nullptr);
  EXPECT_EQ(first_of(both, AdviceKind::kZombie)->observed, dollars(1980));
  const Advice one = replicas(true).advise();
  EXPECT_EQ(first_of(one, AdviceKind::kZombie), nullptr);
  const Proposal* idle = first_of(one, AdviceKind::kIdle);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->observed, dollars(990));
  for (const Proposal& each : one.proposals) {
    EXPECT_EQ(each.apply.find("--replicas=0"), std::string::npos) << each.apply;
  }
  // Nor one that nobody measures, or that is known to have ended only after the month.
  Work unseen = replicas(true);
  std::erase_if(unseen.usages, [](const Usage& usage) { return usage.gpu == GpuId("GPU-z0"); });
  EXPECT_EQ(first_of(unseen.advise(), AdviceKind::kZombie), nullptr);
  Work later = replicas(true);
  later.holdings[1].ended = true;
  later.holdings[1].held = Interval(kMarch, kApril + std::chrono::hours(5));
  EXPECT_EQ(first_of(later.advise(), AdviceKind::kZombie), nullptr);
  // One that ended within the month says nothing about those that still run.
  Work before = replicas(true);
  before.holdings[1].ended = true;
  before.holdings[1].held = Interval(kMarch, kMarch + std::chrono::hours(600));
  EXPECT_NE(first_of(before.advise(), AdviceKind::kZombie), nullptr);
}

// A job that has done nothing for 100 hours at the end of the month, or 50 hours before it.
Proposal idle_job(bool ended, int hours_after, int busy_from) {
  Work work;
  work.add_machine("z", 1, "10", PricingCategory::kStandard, "", "A100-SXM4-80GB");
  Holding& holding = work.hold_gpu("4711", "ann", "GPU-z0");
  holding.labels.set("job_name", "train").value();
  holding.ended = ended;
  holding.held = Interval(kMarch, kApril + std::chrono::hours(hours_after));
  work.run("GPU-z0", 0, 544, 700'000);
  work.run("GPU-z0", 544, busy_from, 0);
  work.run("GPU-z0", busy_from, static_cast<int>(kHours), 700'000);
  const Advice advice = work.advise();
  const Proposal* zombie = first_of(advice, AdviceKind::kZombie);
  return zombie != nullptr ? *zombie : *first_of(advice, AdviceKind::kIdle);
}

TEST(Zombies, OnlyWhatStillRunsIsEnded) {
  const int end = static_cast<int>(kHours);
  const Proposal runs = idle_job(false, 0, end);
  EXPECT_EQ(runs.kind, AdviceKind::kZombie);
  EXPECT_NE(runs.apply.find("scancel --interactive 4711\n"), std::string::npos) << runs.apply;
  EXPECT_EQ(idle_job(false, 300, end).kind, AdviceKind::kZombie);
  // Ended after the month, or busy again: there is nothing to end.
  for (const Proposal& other : {idle_job(true, 300, end), idle_job(false, 0, 694)}) {
    EXPECT_EQ(other.kind, AdviceKind::kIdle);
    EXPECT_EQ(other.apply.find("4711"), std::string::npos) << other.apply;
  }
}

}  // namespace
}  // namespace pennyweight::advising
