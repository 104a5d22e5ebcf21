// Use of processors and memory by day: whatever is cut adds up, and containers that overlap are one
// time.
#include "reporting/queries/host_usage_day.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pennyweight {
namespace {

constexpr Instant kFirst = from_unix_seconds(1'772'323'200);  // 2026-03-01
using std::chrono::hours;
using std::chrono::milliseconds;

Outcome usage_of(std::string_view measure, Instant begin, Instant end, std::uint64_t count) {
  return {ClusterId("c"), WorkloadId("w"), std::string(measure), Interval(begin, end), count};
}

TEST(HostUsageDay, TimesThatOverlapCountOnceAndAmountsAddUp) {
  HostUsageDay day(Interval(kFirst, kFirst + hours(24)));
  day.add(usage_of(kHostCpuUsed, kFirst, kFirst + hours(1), 100));
  day.add(usage_of(kHostCpuUsed, kFirst + hours(1) - milliseconds(10), kFirst + hours(2), 50));
  day.add(usage_of(kHostMemoryPeak, kFirst - hours(1), kFirst + hours(1), 7));
  day.add(usage_of("requests", kFirst, kFirst + hours(1), 9));
  const Interval whole(kFirst, kFirst + hours(24));
  const auto cpu = day.used(kHostCpuUsed, WorkloadId("w"), whole);
  EXPECT_EQ(cpu.amount, 150U);
  EXPECT_EQ(cpu.known_ms, 2U * 3'600'000);
  // A part of the time has the same peak.
  EXPECT_EQ(day.used(kHostMemoryPeak, WorkloadId("w"), whole).amount, UInt128{7} * 3'600'000);
  EXPECT_EQ(day.used("requests", WorkloadId("w"), whole).known_ms, 0U);
  EXPECT_EQ(day.used(kHostCpuUsed, WorkloadId("x"), whole).known_ms, 0U);
}

// A job that was requeued: what its first run used is not the second's.
TEST(HostUsageDay, RunsThatFollowOnEachOtherStayApart) {
  HostUsageDay day(Interval(kFirst, kFirst + hours(24)));
  const Interval first(kFirst, kFirst + milliseconds(1'200'000));
  const Interval second(first.end(), first.end() + milliseconds(1'200'000));
  day.add(usage_of(kHostCpuUsed, first.begin(), first.end(), 1'200'000));
  day.add(usage_of(kHostCpuUsed, second.begin(), second.end(), 1));
  EXPECT_EQ(day.used(kHostCpuUsed, WorkloadId("w"), first).amount, 1'200'000U);
  EXPECT_EQ(day.used(kHostCpuUsed, WorkloadId("w"), second).amount, 1U);
}

// Whatever a run used, and wherever days and holdings cut it, the parts are the whole.
TEST(HostUsageDay, PartsAddUpToTheWhole) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t most) { return random() % most; };
  for (int round = 0; round < 2'000; ++round) {
    const Instant begin = kFirst + milliseconds(below(86'400'000));
    const Interval run(begin, begin + milliseconds(1 + below(5 * 86'400'000ull)));
    const std::uint64_t cpu = below(1ull << (1 + below(62)));
    const auto outcomes = host_usage_outcomes(ClusterId("c"), WorkloadId("w"), run,
                                              {.cpu_core_ms = cpu, .memory_peak_kib = 3});
    UInt128 sum = 0, peak = 0;
    std::uint64_t known_ms = 0;
    // Days of a zone that is not UTC.
    const Instant first = kFirst - hours(5);
    for (Instant at = first; at < run.end(); at += hours(24)) {
      const Interval local(at, at + hours(24));
      HostUsageDay day(local);
      for (const Outcome& outcome : outcomes) {
        if (day.begins().contains(outcome.during.begin())) day.add(outcome);
      }
      const Instant cut = at + milliseconds(1 + below(86'399'998));
      for (const Interval& part : {Interval(at, cut), Interval(cut, local.end())}) {
        const auto used = day.used(kHostCpuUsed, WorkloadId("w"), part);
        sum += used.amount;
        known_ms += used.known_ms;
        peak += day.used(kHostMemoryPeak, WorkloadId("w"), part).amount;
      }
    }
    ASSERT_EQ(sum, cpu) << round;
    ASSERT_EQ(known_ms, run.length_ms()) << round;
    ASSERT_EQ(peak, UInt128{3} * run.length_ms()) << round;
  }
}

}  // namespace
}  // namespace pennyweight
