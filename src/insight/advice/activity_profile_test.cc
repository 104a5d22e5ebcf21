// ActivityProfiles: windows, and what is kept, change nothing about what is counted.
#include "insight/advice/activity_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "insight/advice/activity_state.h"
#include "insight/advice/advice_world_testing.h"
#include "insight/advice/time_bins.h"

namespace pennyweight::advising {
namespace {

// Days with several jobs after each other on a node of two GPUs, a service, and a sample in the
// middle of a change; some are readings, some are spans that reach over what comes next.
Work random_work(std::uint64_t seed, int days) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::uint64_t below) { return random() % below; };
  Work work;
  work.add_machine("a", 2, "10");
  work.add_machine("b", 1, "10");
  for (int hour = 0; hour < days * 24;) {
    const int length = 1 + static_cast<int>(draw(20));
    work.hold_gpu(fmt::format("job-{}", hour), draw(2) == 0 ? "ann" : "bob", "GPU-a0", hour,
                  hour + length);
    hour += length + static_cast<int>(draw(3));
  }
  work.hold_gpu("serve-1", "ml", "GPU-a1", 0, days * 24 - 7);
  work.hold("whole", 3, days * 24, "b");
  for (const std::string gpu : {"GPU-a0", "GPU-a1", "GPU-b0"}) {
    std::uint64_t idle_for = 0;
    for (int minute = 0; minute < days * 1440; minute += 1 + static_cast<int>(draw(14))) {
      Usage& usage = work.sample(gpu, 0);
      usage.at += std::chrono::minutes(minute);
      usage.span_ms = draw(4) == 0 ? 0 : 60'000 * static_cast<std::uint32_t>(1 + draw(75));
      usage.part = draw(3);
      if (idle_for == 0 && draw(60) == 0) idle_for = draw(90);
      if (idle_for > 0) --idle_for;
      const std::uint64_t busy = idle_for > 0 ? 0 : draw(1'010'000);  // some are impossible
      if (draw(10) > 0) usage.sm_active_ppm = busy;
      if (draw(10) > 0) usage.gpu_util_ppm = std::min<std::uint64_t>(busy, 1'000'000);
      if (draw(10) > 0) usage.dram_active_ppm = draw(900'000);
      if (draw(10) > 0) usage.memory_used_bytes = draw(1ull << 34);
      if (draw(5) == 0) usage.memory_used_max_bytes = draw(1ull << 41);
      if (draw(30) == 0) work.usages.push_back(usage);  // twice
    }
  }
  return work;
}

struct Counted {
  explicit Counted(const Work& work, const Interval& within)
      : month(work.month()),
        fleet(month.nodes, month.gpus, month.catalog, month.join_rules),
        profiles(month, fleet, work.policy.usage, within, [](const Holding&) { return Labels(); }) {
  }
  ClusterMonth month;
  FleetView fleet;
  ActivityProfiles profiles;
};

// All samples from `begin` on, in windows of random lengths that end at `stop` too.
void add_windows(const Work& work, ActivityProfiles& profiles, Instant begin, Instant stop,
                 std::mt19937_64& random) {
  while (begin < stop) {
    const Instant end = std::min(stop, begin + std::chrono::minutes(1 + random() % 2000));
    std::vector<Usage> some;
    for (const Usage& usage : work.usages) {
      if (begin <= usage.at && usage.at < end) some.push_back(usage);
    }
    std::ranges::shuffle(some, random);
    profiles.add(some);
    begin = end;
  }
}

void expect_same(const ActivityProfiles& a, const ActivityProfiles& b, std::size_t holdings) {
  ASSERT_EQ(a.profiles().size(), b.profiles().size());
  EXPECT_EQ(a.samples(), b.samples());
  EXPECT_EQ(a.impossible(), b.impossible());
  for (const auto& [key, one] : a.profiles()) {
    const ActivityProfile& other = b.profiles().at(key);
    EXPECT_EQ(one.held_ms, other.held_ms);
    EXPECT_EQ(one.observed_ms, other.observed_ms);
    EXPECT_EQ(one.idle_ms, other.idle_ms);
    EXPECT_EQ(one.longest_idle_ms, other.longest_idle_ms);
    EXPECT_EQ(one.runs, other.runs);
    EXPECT_EQ(one.owner, other.owner);
    EXPECT_EQ(one.instance_type, other.instance_type);
    EXPECT_EQ(one.region, other.region);
    EXPECT_EQ(one.days, other.days);
    EXPECT_TRUE(one.activity == other.activity);
    EXPECT_TRUE(one.dram == other.dram);
    EXPECT_TRUE(one.memory == other.memory);
  }
  ASSERT_EQ(a.idle().size(), b.idle().size());
  for (std::size_t i = 0; i < a.idle().size(); ++i) {
    EXPECT_EQ(a.idle()[i].idle, b.idle()[i].idle);
    EXPECT_EQ(a.idle()[i].gpu, b.idle()[i].gpu);
    EXPECT_EQ(a.idle()[i].holding, b.idle()[i].holding);
    EXPECT_EQ(a.idle()[i].node, b.idle()[i].node);
    EXPECT_EQ(a.idle()[i].whole_ms, b.idle()[i].whole_ms);
  }
  for (std::uint32_t i = 0; i < holdings; ++i) EXPECT_EQ(a.observed_ms(i), b.observed_ms(i));
  ASSERT_EQ(a.served().size(), b.served().size());
  for (const auto& [work, hours] : a.served()) {
    const auto& others = b.served().at(work);
    ASSERT_EQ(hours.size(), others.size());
    for (std::size_t hour = 0; hour < hours.size(); ++hour) {
      EXPECT_TRUE(hours[hour].ppm_ms == others[hour].ppm_ms);
      EXPECT_EQ(hours[hour].ms, others[hour].ms);
    }
  }
}

TEST(ActivityProfiles, WindowsChangeNothing) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Work work = random_work(seed, 5);
    const Interval period(kMarch, kMarch + std::chrono::days(5));
    Counted whole(work, period);
    whole.profiles.add(work.usages);
    whole.profiles.complete();
    ASSERT_FALSE(whole.profiles.idle().empty());
    ASSERT_FALSE(whole.profiles.served().empty());
    Counted windows(work, period);
    std::mt19937_64 random(seed);
    add_windows(work, windows.profiles, kMarch, period.end(), random);
    windows.profiles.complete();
    expect_same(whole.profiles, windows.profiles, work.holdings.size());
  }
}

TEST(ActivityProfiles, ADayMoreGoesOnFromWhatIsKept) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Work work = random_work(seed, 5);
    const Instant until = kMarch + std::chrono::hours(70 + seed);
    Work then = work;  // when less was known: later jobs had not begun, and running ones not ended
    std::erase_if(then.holdings, [&](const Holding& each) {
      return each.held.begin() >= until + std::chrono::hours(2);
    });
    for (Holding& each : then.holdings) {
      if (each.held.end() > until + std::chrono::hours(2)) {
        each.held = Interval(each.held.begin(), until + std::chrono::hours(2));
        each.ended = false;
      }
    }
    std::mt19937_64 random(seed);
    Counted first(then, Interval(kMarch, until + std::chrono::hours(2)));
    add_windows(work, first.profiles, kMarch, until, random);
    const auto kept = first.profiles.state(until);

    Work now = work;
    now.add_machine("0", 1, "10");  // a node whose name comes before the others
    Counted second(now, Interval(kMarch, kMarch + std::chrono::days(5)));
    ASSERT_TRUE(second.profiles.resume(*kept));
    add_windows(work, second.profiles, until, kMarch + std::chrono::days(5), random);
    second.profiles.complete();
    Counted whole(now, Interval(kMarch, kMarch + std::chrono::days(5)));
    whole.profiles.add(work.usages);
    whole.profiles.complete();
    expect_same(whole.profiles, second.profiles, work.holdings.size());
  }
}

TEST(ActivityProfiles, WhatIsKeptIsRefusedWhereFactsAreOthers) {
  const Work work = random_work(1, 5);
  const Instant until = kMarch + std::chrono::hours(72);
  const Interval period(kMarch, kMarch + std::chrono::days(5));
  Counted first(work, period);
  std::mt19937_64 random(1);
  add_windows(work, first.profiles, kMarch, until, random);
  const auto kept = first.profiles.state(until);
  const auto is_taken = [&](const Work& now, const Interval& within) {
    return Counted(now, within).profiles.resume(*kept);
  };
  EXPECT_TRUE(is_taken(work, period));
  EXPECT_FALSE(is_taken(work, Interval(kMarch, until + std::chrono::hours(1))));
  EXPECT_FALSE(is_taken(work, Interval(kMarch - std::chrono::hours(1), period.end())));
  Work more = work;
  more.hold_gpu("late-record", "ann", "GPU-b0", 10, 12);
  EXPECT_FALSE(is_taken(more, period));
  Work other = work;
  other.nodes.back().gpu_model = "T4-16GB";
  EXPECT_FALSE(is_taken(other, period));
  Work renamed = work;
  ASSERT_TRUE(renamed.holdings.front().labels.set("job_name", "train").has_value());
  EXPECT_FALSE(is_taken(renamed, period));
}

TEST(TimeBins, MergeInAnyOrder) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    TimeBins all(1000);
    FlatBins flat(1000);
    TimeBins merged(1000);
    TimeBins part(1000);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t value = random() % (round % 2 == 0 ? 50'000 : 9'000'000);
      const std::uint64_t ms = random() % 4;
      all.add(value, ms);
      flat.add(value, ms);
      part.add(value, ms);
      if (i % 37 == 0) {
        flat.move_to(merged);
        part = TimeBins(1000);
      }
    }
    flat.move_to(merged);
    EXPECT_TRUE(all == merged);
    EXPECT_EQ(all.quantile(1000), (all.peak() + 999) / 1000 * 1000);
    TimeBins twice = all;
    twice.merge(all);
    EXPECT_EQ(twice.total_ms(), 2 * all.total_ms());
    EXPECT_EQ(twice.quantile(500), all.quantile(500));
  }
}

}  // namespace
}  // namespace pennyweight::advising
