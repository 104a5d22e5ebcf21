#include "insight/forecast/cost_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pennyweight::forecasting {
namespace {

using testing::HasSubstr;

constexpr Date kFirst = std::chrono::year(2026) / 3 / 2;  // a Monday

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }

DailyCosts weekdays(std::string key, std::int64_t workday, std::int64_t weekend, int days,
                    int noise = 0) {
  std::mt19937 random(7);
  DailyCosts costs{std::move(key), {}};
  for (int t = 0; t < days; ++t) {
    const int more = noise == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(noise));
    costs.days.push_back(usd((t % 7 >= 5 ? weekend : workday) + more));
  }
  return costs;
}

TEST(CostForecasts, AWeekRepeatsItself) {
  const auto made = forecast_costs(
      {.first_day = kFirst, .parts = {weekdays("nlp", 100, 20, 56)}, .horizon = 9, .events = {}});
  ASSERT_TRUE(made);
  EXPECT_EQ(to_text(made->first_day), "2026-04-27");
  EXPECT_EQ(made->parts[0].path[0], usd(100));
  EXPECT_EQ(made->parts[0].path[5], usd(20));
  EXPECT_EQ(made->whole.sum(7), usd(540));
  EXPECT_EQ(made->whole.sum_range(7, 80)->low, usd(540));
}

TEST(CostForecasts, PartsAddUpToTheWholeOnEachDay) {
  const auto made =
      forecast_costs({.first_day = kFirst,
                      .parts = {weekdays("nlp", 900, 200, 120, 300),
                                weekdays("cv", 500, 400, 120, 90), weekdays("new", 0, 0, 120, 3)},
                      .horizon = 60,
                      .events = {}});
  ASSERT_TRUE(made);
  for (std::size_t h = 0; h < 60; ++h) {
    Money sum = usd(0);
    for (const auto& part : made->parts) sum += part.path[h];
    EXPECT_EQ(sum, made->whole.path[h]);
    if (const auto range = made->whole.range(h, 80)) {
      EXPECT_LE(range->low.ticks(), made->whole.path[h].ticks());
      EXPECT_GE(range->high.ticks(), made->whole.path[h].ticks());
    }
  }
}

TEST(CostForecasts, KnownEventsChangeTheDaysThatTheyAreFor) {
  const Date ahead = kFirst + std::chrono::days(56);
  const auto made =
      forecast_costs({.first_day = kFirst,
                      .parts = {weekdays("nlp", 100, 100, 56), weekdays("cv", 10, 10, 56)},
                      .horizon = 10,
                      .events = {{.name = "client starts",
                                  .from = ahead + std::chrono::days(2),
                                  .key = "nlp",
                                  .per_day = usd(50)},
                                 {.name = "holiday", .from = ahead, .to = ahead, .percent = 0}}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->whole.path[0], usd(0));
  EXPECT_EQ(made->whole.path[1], usd(110));
  EXPECT_EQ(made->whole.path[2], usd(160));
}

TEST(CostForecasts, APastEventIsNotForecastAgain) {
  auto costs = weekdays("nlp", 100, 100, 56);
  for (std::size_t t = 40; t < 56; ++t) costs.days[t] += usd(1000);  // a training run
  const auto made = forecast_costs({.first_day = kFirst,
                                    .parts = {costs},
                                    .horizon = 3,
                                    .events = {{.name = "training run",
                                                .from = kFirst + std::chrono::days(40),
                                                .to = kFirst + std::chrono::days(55),
                                                .key = "nlp",
                                                .per_day = usd(1000)}}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->whole.path[0], usd(100));
}

TEST(CostForecasts, ALevelShiftIsSaidAndFollowed) {
  auto costs = weekdays("nlp", 100, 60, 70, 5);
  for (std::size_t t = 49; t < 70; ++t) costs.days[t] += costs.days[t];
  const auto made =
      forecast_costs({.first_day = kFirst, .parts = {costs}, .horizon = 7, .events = {}});
  ASSERT_TRUE(made);
  EXPECT_GT(made->whole.path[0].ticks(), usd(180).ticks());
  EXPECT_LT(made->whole.path[0].ticks(), usd(230).ticks());
  EXPECT_GT(made->whole.path[5].ticks(), usd(100).ticks());
}

TEST(CostForecasts, MissingDaysAreNamedAndNotTakenForZero) {
  auto costs = weekdays("nlp", 100, 100, 56);
  std::vector<bool> missing(56, false);
  for (const std::size_t t : {20u, 55u}) {
    costs.days[t] = usd(0);
    missing[t] = true;
  }
  const auto made = forecast_costs(
      {.first_day = kFirst, .parts = {costs}, .missing = missing, .horizon = 3, .events = {}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->whole.path[0], usd(100));
  EXPECT_THAT(made->notes.at(0), HasSubstr("no costs at all on 2026-03-22, 2026-04-26"));
}

TEST(CostForecasts, LittleHistoryGetsTheBaselineAndNoRange) {
  for (const int days : {1, 2, 6, 7, 8, 13}) {
    const auto made = forecast_costs({.first_day = kFirst,
                                      .parts = {weekdays("nlp", 100, 100, days)},
                                      .horizon = 30,
                                      .events = {}});
    ASSERT_TRUE(made) << days;
    EXPECT_EQ(made->whole.basis.method, Method::kSeasonalNaive);
    EXPECT_EQ(made->whole.path[29], usd(100));
    EXPECT_THAT(made->whole.basis.notes.at(0), HasSubstr("less than two seasons"));
    if (days < 8) {
      EXPECT_FALSE(made->whole.range(0, 80)) << days;
      EXPECT_FALSE(made->whole.percent_above(7, usd(1))) << days;
    }
  }
}

TEST(CostForecasts, CreditsMayBeNegative) {
  auto costs = weekdays("nlp", 100, 100, 56, 20);
  costs.days[30] = usd(-400);
  const auto made =
      forecast_costs({.first_day = kFirst, .parts = {costs}, .horizon = 7, .events = {}});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->whole.basis.notes, testing::Contains(HasSubstr("1 day is below 0 (credits)")));
}

TEST(CostForecasts, WhatCannotBeForecastIsRefused) {
  EXPECT_THAT(forecast_costs({.first_day = kFirst, .parts = {}, .events = {}}).error().message,
              HasSubstr("no day"));
  auto mixed = weekdays("cv", 1, 1, 9);
  mixed.days[3] = Money::from_units(1, kEur);
  EXPECT_THAT(forecast_costs(
                  {.first_day = kFirst, .parts = {weekdays("nlp", 1, 1, 9), mixed}, .events = {}})
                  .error()
                  .message,
              HasSubstr("costs in EUR"));
  EXPECT_THAT(forecast_costs({.first_day = kFirst,
                              .parts = {weekdays("nlp", 1, 1, 9)},
                              .events = {{.name = "x", .from = kFirst, .per_day = usd(1)}}})
                  .error()
                  .message,
              HasSubstr("needs a key"));
}

// How good a forecast is, over many random histories: the chosen method never errs more on the
// rolling origins than the baseline does.
TEST(CostForecasts, NeverWorseThanTheBaseline) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 60; ++round) {
    std::vector<double> values;
    double level = 500;
    const auto n = 15 + random() % 90;
    for (std::size_t t = 0; t < n; ++t) {
      level = std::max(0.0, level + 20 * normal(random));
      values.push_back(random() % 5 == 0 ? 0 : level);
    }
    const auto made = forecast_series({.values = values, .seasons = {7}, .horizon = 14});
    ASSERT_TRUE(made);
    double chosen = 0;
    double baseline = 0;
    for (const auto& score : made->scores) {
      if (score.method == made->method) chosen = score.mase.value();
      if (score.method == Method::kSeasonalNaive) baseline = score.mase.value();
    }
    EXPECT_LE(chosen, baseline);
    for (const double value : made->path) EXPECT_GE(value, 0);
  }
}

TEST(CostForecasts, EarlierForecastsAreScored) {
  const MoneyRange range{usd(90), usd(110)};
  const auto score = score_forecast(std::vector<ForecastDay>{
      {usd(100), range, usd(100)}, {usd(100), range, usd(120)}, {usd(100), {}, usd(80)}});
  EXPECT_EQ(score.error_permille, 133);
  EXPECT_EQ(score.inside_percent, 50);
  EXPECT_EQ(score.days, 3);
}

}  // namespace
}  // namespace pennyweight::forecasting
