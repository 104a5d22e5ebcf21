#include "insight/forecast/capacity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace pennyweight::forecasting {
namespace {

constexpr int kHorizon = 92;

std::vector<std::int64_t> steady(std::int64_t gpus) {
  return std::vector<std::int64_t>(kHorizon, gpus * 1000);
}

// So many GPUs on working days, fewer at the weekend, and so many more each day.
std::vector<std::int64_t> demand(std::size_t days, double level, double growth, double noise,
                                 std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise > 0 ? noise : 1);
  std::vector<std::int64_t> peaks;
  for (std::size_t day = 0; day < days; ++day) {
    const double week = day % 7 < 5 ? 1 : 0.8;
    const double value = (level + growth * static_cast<double>(day)) * week;
    peaks.push_back(1000 * std::max(0LL, std::llround(value + (noise > 0 ? normal(random) : 0))));
  }
  return peaks;
}

TEST(Capacity, SteadyGrowthRunsOutWhenItReachesWhatThereIs) {
  // 100 GPUs and 0.5 more each day: after 300 days 250 are held, and 280 are in 60 days.
  const auto peaks = demand(300, 100, 0.5, 2, 1);
  const auto outlook = forecast_capacity(peaks, kHorizon);
  ASSERT_TRUE(outlook) << outlook.error().message;
  const auto gpus = steady(280);
  EXPECT_LE(outlook->percent_out(gpus, 30).value_or(100), 5);
  EXPECT_GE(outlook->percent_out(gpus, 90).value_or(0), 90);
  const auto day = outlook->runs_out(gpus);
  ASSERT_TRUE(day);
  EXPECT_GE(*day, 44u);
  EXPECT_LE(*day, 66u);
  // The highest peak of the 90 days is 295, and 3 or so more by chance.
  const auto enough = outlook->enough(90, 90);
  ASSERT_TRUE(enough);
  EXPECT_GE(*enough, 290u);
  EXPECT_LE(*enough, 308u);
}

TEST(Capacity, WhatNobodyNeedsIsUnused) {
  const auto outlook = forecast_capacity(demand(300, 60, 0, 2, 2), kHorizon);
  ASSERT_TRUE(outlook);
  EXPECT_EQ(outlook->percent_out(steady(100), 90), 0);
  EXPECT_FALSE(outlook->runs_out(steady(100)));
  const auto enough = outlook->enough(90, 95);
  ASSERT_TRUE(enough);
  EXPECT_GE(*enough, 60u);
  EXPECT_LE(*enough, 72u);
}

TEST(Capacity, AReservationThatEndsIsSeen) {
  const auto outlook = forecast_capacity(demand(300, 60, 0, 1, 3), kHorizon);
  ASSERT_TRUE(outlook);
  std::vector<std::int64_t> gpus = steady(100);
  std::fill(gpus.begin() + 40, gpus.end(), 40'000);
  EXPECT_EQ(outlook->percent_out(gpus, 30), 0);
  EXPECT_EQ(outlook->percent_out(gpus, 60), 100);
  const auto day = outlook->runs_out(gpus);
  ASSERT_TRUE(day);
  EXPECT_GE(*day, 40u);
  EXPECT_LE(*day, 43u);
}

TEST(Capacity, AShortHistorySaysNothing) {
  const auto outlook = forecast_capacity(demand(20, 60, 0, 1, 4), kHorizon);
  ASSERT_TRUE(outlook);
  EXPECT_FALSE(outlook->percent_out(steady(10), 30));
  EXPECT_FALSE(outlook->enough(30, 90));
  EXPECT_EQ(outlook->runs_out(steady(10)), 0u) << "what is short today needs no long history";
}

// Of many fleets, with what there is so that it may or may not suffice: probabilities come true as
// often as they say.
TEST(Capacity, ProbabilitiesHold) {
  double said = 0, seen = 0;
  int wrong_when_sure = 0, sure = 0, known = 0;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    const double level = std::uniform_real_distribution<double>(40, 200)(random);
    const double growth = std::uniform_real_distribution<double>(-0.1, 0.3)(random);
    const double noise = std::uniform_real_distribution<double>(1, 8)(random);
    const auto all = demand(360, level, growth, noise, seed + 1000);
    const std::size_t days = 30;
    const std::span<const std::int64_t> past(all.data(), all.size() - days);
    const std::span<const std::int64_t> future(all.data() + past.size(), days);
    const auto outlook = forecast_capacity(past, static_cast<int>(days));
    ASSERT_TRUE(outlook);
    const std::int64_t most = *std::ranges::max_element(future);
    const std::int64_t gpus = most + 1000 * std::uniform_int_distribution<int>(-12, 12)(random);
    const auto percent = outlook->percent_out(std::vector<std::int64_t>(days, gpus), days);
    if (!percent) continue;
    ++known;
    const bool is_out = most > gpus;
    said += *percent / 100.0;
    seen += is_out ? 1 : 0;
    if (*percent >= 95 || *percent <= 5) {
      ++sure;
      wrong_when_sure += is_out == (*percent >= 95) ? 0 : 1;
    }
  }
  ASSERT_GE(known, 100);
  EXPECT_NEAR(said / known, seen / known, 0.08);
  ASSERT_GE(sure, 20);
  EXPECT_LE(wrong_when_sure * 10, sure) << wrong_when_sure << " of " << sure;
}

}  // namespace
}  // namespace pennyweight::forecasting
