#include "insight/budgets/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using testing::HasSubstr;

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }
Date day(std::string_view text) { return parse_date(text).value(); }

Budget monthly(std::int64_t amount) {
  return {.name = "nlp", .filters = {"team=nlp"}, .amounts = {{day("2026-01-01"), usd(amount)}}};
}

SpentDays spent(std::string_view first, int count, std::int64_t each) {
  SpentDays out;
  for (int i = 0; i < count; ++i)
    out.days.insert_or_assign(day(first) + std::chrono::days(i), usd(each));
  out.complete_until = day(first) + std::chrono::days(count - 1);
  return out;
}

// A forecast of the same cost on each day.
forecasting::CostForecast flat(std::int64_t each, int days) {
  forecasting::CostForecast forecast{
      .path = std::vector<Money>(static_cast<std::size_t>(days), usd(each))};
  using Value = decltype(forecast.path_before_rounding)::value_type;
  forecast.path_before_rounding.assign(forecast.path.size(), static_cast<Value>(each));
  return forecast;
}

// 4,200 after 12 days of 30 is 10,500 (OCI's rule of budgets).
TEST(Budget, TheLinearForecastOfTheReference) {
  const auto status =
      measure_budget(monthly(9000), spent("2026-04-01", 12, 350), day("2026-04-13"), {});
  EXPECT_EQ(status.actual, usd(4200));
  EXPECT_EQ(status.linear, usd(10500));
  EXPECT_EQ(status.pace, usd(3600));
  EXPECT_EQ(status.actual_permille, 466);
  EXPECT_EQ(status.state(), "on track");
}

TEST(Budget, CostsThatEndedLongAgoAreNotOnTrack) {
  auto status = measure_budget(monthly(9000), spent("2026-04-01", 12, 350), day("2026-04-13"), {});
  status.is_outdated = true;
  EXPECT_EQ(status.state(), "unknown");
  status = measure_budget(monthly(4000), spent("2026-04-01", 12, 350), day("2026-04-13"), {});
  status.is_outdated = true;
  EXPECT_EQ(status.state(), "exceeded");
}

TEST(Budget, AScopeThatNoCostHasEverMatchedIsNotOnTrack) {
  Budget budget = monthly(9000);
  budget.filters = {"team=npl"};
  const auto status = measure_budget(budget, {}, day("2026-04-13"), {});
  EXPECT_EQ(status.state(), "unknown");
  EXPECT_THAT(status.notes, testing::Contains(testing::HasSubstr("team=npl; check the names")));
  // One that is set ahead may be for a team that is to come.
  budget.period = BudgetPeriod::kProject;
  budget.from = day("2026-05-01");
  budget.to = day("2026-06-30");
  EXPECT_EQ(measure_budget(budget, {}, day("2026-04-13"), {}).state(), "on track");
  EXPECT_EQ(measure_budget(budget, {}, day("2026-05-01"), {}).state(), "unknown");
  budget = monthly(9000);
  // A cost of today is enough, and so is one of nothing: somebody has that name.
  SpentDays spent;
  spent.days.emplace(day("2026-04-13"), usd(0));
  EXPECT_EQ(measure_budget(budget, spent, day("2026-04-13"), {}).state(), "on track");
}

TEST(Budget, ForecastAndTheDayOfExhaustion) {
  const auto status =
      measure_budget(monthly(9000), spent("2026-04-01", 12, 350), day("2026-04-13"), flat(400, 40));
  EXPECT_EQ(status.forecast, usd(4200 + 18 * 400));
  EXPECT_EQ(to_text(status.exhausts_on.value()), "2026-04-25");  // 4,200 + 13 x 400 > 9,000
  EXPECT_FALSE(status.exhausted_on);
  EXPECT_EQ(status.state(), "at risk");
  const auto reached = reached_thresholds(status);
  ASSERT_EQ(reached.size(), 1u);
  EXPECT_TRUE(reached[0].is_forecast);
}

TEST(Budget, ADayThatHasBegunCountsAtLeastWhatIsKnown) {
  auto costs = spent("2026-04-01", 12, 350);
  costs.days.insert_or_assign(day("2026-04-13"), usd(1000));
  const auto status = measure_budget(monthly(9000), costs, day("2026-04-13"), flat(400, 40));
  EXPECT_EQ(status.actual, usd(5200));
  EXPECT_EQ(status.forecast, usd(4200 + 1000 + 17 * 400));
}

TEST(Budget, ExceededSinceTheDayOnWhichTheSumPassedIt) {
  const auto status =
      measure_budget(monthly(3000), spent("2026-04-01", 12, 350), day("2026-04-13"), {});
  EXPECT_EQ(to_text(status.exhausted_on.value()), "2026-04-09");
  EXPECT_EQ(status.left, usd(-1200));
  EXPECT_EQ(status.state(), "exceeded");
  EXPECT_EQ(reached_thresholds(status).size(), 3u);
}

TEST(Budget, WhatIsLeftRollsOver) {
  Budget budget = monthly(1000);
  budget.rolls_over = true;
  budget.from = day("2026-02-01");
  // February: 28 days of 10, March: 31 of 10; the amount of March on is 2,000.
  budget.amounts.push_back({day("2026-03-01"), usd(2000)});
  const auto status = measure_budget(budget, spent("2026-01-01", 90, 10), day("2026-04-01"), {});
  EXPECT_EQ(status.carried, usd(1000 - 280 + 2000 - 310));
  EXPECT_EQ(status.amount, usd(2000 + 2410));
}

TEST(Budget, Periods) {
  struct Row {
    BudgetPeriod period;
    const char* first;
    const char* last;
  };
  for (const Row& row : {Row{BudgetPeriod::kDay, "2028-02-29", "2028-02-29"},
                         Row{BudgetPeriod::kWeek, "2028-02-28", "2028-03-05"},
                         Row{BudgetPeriod::kMonth, "2028-02-01", "2028-02-29"},
                         Row{BudgetPeriod::kQuarter, "2028-01-01", "2028-03-31"},
                         Row{BudgetPeriod::kYear, "2028-01-01", "2028-12-31"}}) {
    Budget budget = monthly(1);
    budget.period = row.period;
    const auto days = budget_days(budget, day("2028-02-29"));
    EXPECT_EQ(to_text(days.first), row.first);
    EXPECT_EQ(to_text(days.last), row.last);
    EXPECT_EQ(parse_budget_period(to_text(row.period)), row.period);
  }
}

TEST(Budget, PartsThatPlanMoreThanTheWholeAreSaid) {
  Budget whole = monthly(1000);
  whole.name = "research";
  Budget nlp = monthly(700);
  nlp.parent = "research";
  Budget cv = monthly(500);
  cv.name = "cv";
  cv.parent = "research";
  Budget lost = monthly(1);
  lost.name = "lost";
  lost.parent = "nowhere";
  const std::vector<Budget> all{whole, nlp, cv, lost};
  const auto notes = check_hierarchy(all, day("2026-04-01"));
  EXPECT_EQ(notes.at("research"), "its 2 parts come to 1200 USD, 200 more than its own amount");
  EXPECT_THAT(notes.at("lost"), HasSubstr("does not exist"));
  Budget a = monthly(1);
  a.name = "a";
  a.parent = "b";
  Budget b = a;
  b.name = "b";
  b.parent = "a";
  EXPECT_THAT(check_hierarchy(std::vector{a, b}, day("2026-04-01")).at("a"), HasSubstr("circle"));
}

TEST(Budget, ThoseOfTheSameScopeAreNamed) {
  const auto budget = [](const std::string& name, std::vector<std::string> filters) {
    Budget one = monthly(1);
    one.name = name;
    one.filters = std::move(filters);
    return one;
  };
  std::vector<Budget> all = {budget("a", {"team=nlp", "cluster=x"}),
                             budget("b", {"cluster=x", "team=nlp"}),
                             budget("c", {"team=nlp"}),
                             budget("whole", {}),
                             budget("part", {}),
                             budget("hours", {"team=nlp"})};
  all[4].parent = "whole";
  all[5].amounts = {{Date(), Money::from_units(5, kGpuHourUnit)}};
  all[5].cost = kGpuHourCost;
  const auto notes = find_same_scopes(all);
  EXPECT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes.at("a"),
            "its scope and period are those of b too, so that the same costs count in each");
  EXPECT_THAT(notes.at("b"), HasSubstr("those of a too"));
  for (int i = 0; i < 5; ++i) all.push_back(budget("c" + std::to_string(i), {"team=nlp"}));
  EXPECT_THAT(find_same_scopes(all).at("c"), HasSubstr("those of c0, c1, c2 and others too"));
  all[2].period = BudgetPeriod::kWeek;
  EXPECT_FALSE(find_same_scopes(all).contains("c"));
}

TEST(Budget, WhatMakesNoSenseIsRefused) {
  Budget budget = monthly(-1);
  EXPECT_THAT(check_budget(budget).error().message, HasSubstr("0 or more"));
  budget = monthly(1);
  budget.amounts.push_back({day("2026-02-01"), Money::from_units(1, kEur)});
  EXPECT_THAT(check_budget(budget).error().message, HasSubstr("two currencies"));
  budget = monthly(1);
  budget.period = BudgetPeriod::kProject;
  EXPECT_THAT(check_budget(budget).error().message, HasSubstr("`from` and `to`"));
  budget = monthly(1);
  budget.rolls_over = true;
  EXPECT_THAT(check_budget(budget).error().message, HasSubstr("needs `from`"));
  budget = monthly(1);
  budget.cost = "gpu_hours";
  EXPECT_THAT(check_budget(budget).error().message, HasSubstr("GPU-hours"));
  EXPECT_TRUE(check_budget(monthly(0)));
}

TEST(Budget, NothingToSpendAndNothingSpentAreSaid) {
  const auto status = measure_budget(monthly(0), {}, day("2026-04-13"), {});
  EXPECT_FALSE(status.actual_permille);
  EXPECT_THAT(status.notes, testing::Contains(HasSubstr("nothing to spend")));
  EXPECT_THAT(status.notes,
              testing::Contains(HasSubstr("no cost of the last 400 days matches its scope")));
}

}  // namespace
}  // namespace pennyweight
