#include "telemetry/live/latency_history.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace pennyweight::live {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const LatencyRule kRule{.window = minutes(5), .times = 5, .requests = 20};

// Requests of which each took less than a bound, and more than the one before.
LatencyBuckets all_below(double bound, double count) {
  LatencyBuckets buckets;
  for (const double one : {0.1, 0.5, 1.0, 5.0, 10.0, kInfinite}) {
    buckets[one] = one >= bound ? count : 0;
  }
  return buckets;
}

// A service that answers 10 requests each 30 seconds until `until`.
void serve(LatencyHistory& history, Instant from, Instant until, double bound) {
  for (Instant at = from; at < until; at += seconds(30))
    history.add(at, all_below(bound, 10), kRule);
}

const Instant kBegin = *parse_instant("2026-03-10T08:00:00Z");

TEST(LatencyHistory, AQuantileIsInterpolatedInItsBucket) {
  // histogram_quantile(0.95, …) of Prometheus: 95 of 100 lie at 45/50 of the bucket from 0.5 to 1.
  const auto p95 = latency_quantile({{0.5, 50}, {1, 100}, {kInfinite, 100}}, 0.95);
  ASSERT_TRUE(p95);
  EXPECT_DOUBLE_EQ(p95->seconds, 0.95);
  EXPECT_FALSE(p95->is_at_least);
  const auto beyond = latency_quantile({{0.5, 50}, {1, 90}, {kInfinite, 100}}, 0.95);
  ASSERT_TRUE(beyond);
  EXPECT_DOUBLE_EQ(beyond->seconds, 1);
  EXPECT_TRUE(beyond->is_at_least);
  EXPECT_FALSE(latency_quantile({}, 0.95));
  EXPECT_FALSE(latency_quantile({{0.5, 0}, {kInfinite, 0}}, 0.95));
  EXPECT_FALSE(latency_quantile({{kInfinite, 7}}, 0.95));
}

TEST(LatencyHistory, WithoutABaselineNothingIsSlow) {
  LatencyHistory history;
  serve(history, kBegin, kBegin + minutes(4), 10);
  const LatencyLevels levels = history.levels(kBegin + minutes(4), kRule);
  EXPECT_FALSE(levels.is_slow);
  EXPECT_TRUE(levels.lacks_baseline);
  EXPECT_EQ(levels.usual_requests, 0);
}

TEST(LatencyHistory, MoreThanFiveTimesWhatIsUsualIsSlowUntilItIsUsualAgain) {
  LatencyHistory history;
  const Instant slow = kBegin + minutes(60), well = slow + minutes(60);
  serve(history, kBegin, slow, 0.5);
  EXPECT_FALSE(history.levels(slow, kRule).is_slow);
  EXPECT_FALSE(history.levels(slow, kRule).lacks_baseline);
  serve(history, slow, well, 10);
  const LatencyLevels levels = history.levels(well, kRule);
  EXPECT_TRUE(levels.is_slow) << "an hour of slow answers is not learned";
  EXPECT_NEAR(levels.usual_p95->seconds, 0.48, 0.01);
  EXPECT_GT(levels.p95->seconds, 9);
  serve(history, well, well + minutes(6), 0.5);
  EXPECT_FALSE(history.levels(well + minutes(6), kRule).is_slow);
}

TEST(LatencyHistory, FourTimesWhatIsUsualIsNotSlow) {
  LatencyHistory history;
  serve(history, kBegin, kBegin + minutes(60), 0.5);              // p95 0.48
  serve(history, kBegin + minutes(60), kBegin + minutes(66), 1);  // p95 0.975
  EXPECT_FALSE(history.levels(kBegin + minutes(66), kRule).is_slow);
}

TEST(LatencyHistory, AFewRequestsSayNothing) {
  LatencyHistory history;
  serve(history, kBegin, kBegin + minutes(60), 0.5);
  history.add(kBegin + minutes(70), all_below(10, 19), kRule);
  EXPECT_FALSE(history.levels(kBegin + minutes(70), kRule).is_slow);
  history.add(kBegin + minutes(70), all_below(10, 1), kRule);
  EXPECT_TRUE(history.levels(kBegin + minutes(70), kRule).is_slow);
  EXPECT_FALSE(history.levels(kBegin + minutes(76), kRule).is_slow) << "nobody asked since";
}

TEST(LatencyHistory, AfterADayTheBaselineIsGoneAndANewOneIsLearned) {
  LatencyHistory history;
  const Instant slow = kBegin + minutes(60), later = slow + minutes(60 * 26);
  serve(history, kBegin, slow, 0.5);
  serve(history, slow, later, 10);
  const LatencyLevels levels = history.levels(later, kRule);
  EXPECT_FALSE(levels.is_slow);
  EXPECT_FALSE(levels.lacks_baseline);
  EXPECT_GT(levels.usual_p95->seconds, 5);
}

TEST(LatencyHistory, WhatItRemembersIsBounded) {
  LatencyHistory history;
  serve(history, kBegin, kBegin + std::chrono::hours(24 * 5), 0.5);
  EXPECT_LE(history.slots.size(), 61u);
  EXPECT_LE(history.hours.size(), 26u);
}

}  // namespace
}  // namespace pennyweight::live
