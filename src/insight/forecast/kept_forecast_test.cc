#include "insight/forecast/kept_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::forecasting {
namespace {

Money dollars(std::int64_t units) { return Money::from_units(units, kUsd); }
const Date kFirstKept = *parse_date("2026-03-01");

// Made for the days from 1 March + `day` on: 100 a day, from 90 to 110 and from 80 to 120.
KeptForecast made(int day, std::size_t days) {
  KeptForecast forecast{kFirstKept + std::chrono::days(day), "team", "nlp", {}};
  forecast.days.assign(days, {dollars(100), MoneyRange{dollars(90), dollars(110)},
                              MoneyRange{dollars(80), dollars(120)}});
  return forecast;
}

TEST(KeptForecasts, AreScoredOnTheDaysThatAreKnown) {
  const std::vector<Money> actual{dollars(100), dollars(120), dollars(85), dollars(130)};
  std::vector<KeptForecast> forecasts{made(1, 2), made(3, 5), made(9, 5), made(-3, 2)};
  const auto score = score_kept(forecasts, kFirstKept, actual, {});
  EXPECT_EQ(score.forecasts, 2);
  EXPECT_EQ(score.days, 3);
  EXPECT_EQ(score.error_permille, 194);  // 20 + 15 + 30 of 335
  EXPECT_EQ(score.inside_80, 0);
  EXPECT_EQ(score.days_with_80, 3);
  EXPECT_EQ(score.inside_95, 2);
  EXPECT_FALSE(score.judges());
  EXPECT_TRUE(score.holds(80));
  // A missing day, and another currency.
  EXPECT_EQ(score_kept(forecasts, kFirstKept, actual, {false, true, false, false}).days, 2);
  for (KeptForecast& one : forecasts) one.days[0].expected = Money::from_units(1, kEur);
  EXPECT_EQ(score_kept(forecasts, kFirstKept, actual, {}).days, 1);
}

TEST(KeptForecasts, RangesThatDidNotHoldAreHidden) {
  std::vector<KeptForecast> forecasts;
  for (int day = 0; day < 20; ++day) forecasts.push_back(made(day, 5));
  const std::vector<Money> calm(40, dollars(100));
  const auto good = score_kept(forecasts, kFirstKept, calm, {});
  EXPECT_TRUE(good.judges());
  EXPECT_TRUE(good.holds(80));
  const auto bad = score_kept(forecasts, kFirstKept, std::vector<Money>(40, dollars(115)), {});
  EXPECT_FALSE(bad.holds(80));
  EXPECT_TRUE(bad.holds(95));
  CostForecast forecast;
  forecast.basis.checks = {{50, 0.5, true}, {80, 0.8, true}, {95, 0.95, true}};
  hide_unheld(good, forecast);
  EXPECT_TRUE(forecast.basis.notes.empty());
  hide_unheld(bad, forecast);
  EXPECT_FALSE(forecast.basis.checks[0].is_shown);
  EXPECT_FALSE(forecast.basis.checks[1].is_shown);
  EXPECT_TRUE(forecast.basis.checks[2].is_shown);
  EXPECT_THAT(forecast.basis.notes,
              testing::ElementsAre("the 80 % range is not shown: in 20 forecasts that were kept it "
                                   "held on 0 of 100 days"));
}

}  // namespace
}  // namespace pennyweight::forecasting
