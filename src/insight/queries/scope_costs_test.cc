#include "insight/queries/scope_costs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "insight/queries/budget_query.h"

namespace pennyweight {
namespace {

constexpr Date kFirstDay = std::chrono::year(2026) / 3 / 1;
const std::vector<std::string> kNames = {"team", "project", "cluster"};

struct Fact {
  Date day;
  std::vector<std::string> values;  // as kNames
  Costs costs;
};

Costs costs_of(std::int64_t cents, const char* currency) {
  Costs costs = Costs::zero(*Currency::parse(currency));
  const Money amount =
      Money::from_ticks(Int128{cents} * (Money::kTicksPerUnit / 100), *Currency::parse(currency));
  costs.billed = costs.effective = costs.list = costs.contracted = amount;
  return costs;
}

// A ledger of a few facts, which counts what it is asked.
struct SmallLedger {
  std::vector<Fact> facts;
  std::size_t asked = 0;

  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) {
    ++asked;
    std::map<std::pair<Date, std::vector<std::string>>, SummaryRow> sums;
    for (const Fact& fact : facts) {
      const auto value = [&](const std::string& name) {
        return fact
            .values[static_cast<std::size_t>(std::ranges::find(kNames, name) - kNames.begin())];
      };
      if (fact.day < *query.first_day || fact.day > *query.last_day) continue;
      const bool is_in = std::ranges::all_of(query.filters, [&](const SummaryFilter& filter) {
        const bool is_listed =
            std::ranges::find(filter.values, value(filter.dimension)) != filter.values.end();
        return is_listed != filter.negate;
      });
      if (!is_in) continue;
      std::vector<std::string> keys;
      for (const std::string& name : query.group_by) keys.push_back(value(name));
      std::vector<std::string> place = keys;
      place.push_back(fact.costs.currency().text());
      SummaryRow row{.bucket = fact.day,
                     .keys = keys,
                     .costs = fact.costs,
                     .gpu_time = {},
                     .idle_time = {},
                     .memory_time = {},
                     .observed_time = {},
                     .postings = 1};
      const auto [sum, is_new] = sums.try_emplace({fact.day, place}, row);
      if (is_new) continue;
      sum->second.costs += fact.costs;
      ++sum->second.postings;
    }
    std::vector<SummaryRow> rows;
    for (auto& [key, row] : sums) rows.push_back(std::move(row));
    return rows;
  }
  SummarySource source() {
    return [this](const SummaryQuery& query) { return summarise(query); };
  }
};

std::string any_value() { return *rc::gen::element<std::string>("", "a", "b", "c"); }

ScopeCosts::Scope any_scope() {
  ScopeCosts::Scope scope;
  const int filters = *rc::gen::inRange(0, 4);
  for (int i = 0; i < filters; ++i) {
    SummaryFilter filter{*rc::gen::elementOf(kNames), {}, *rc::gen::inRange(0, 4) == 0};
    const int values = *rc::gen::inRange(0, 3);
    for (int v = 0; v < values; ++v) filter.values.push_back(any_value());
    scope.push_back(std::move(filter));
  }
  return scope;
}

RC_GTEST_PROP(ScopeCosts, AreWhatEachScopeWouldHaveAskedFor, ()) {
  SmallLedger ledger;
  const int facts = *rc::gen::inRange(0, 40);
  for (int i = 0; i < facts; ++i) {
    ledger.facts.push_back(
        {kFirstDay + std::chrono::days(*rc::gen::inRange(0, 6)),
         {any_value(), any_value(), any_value()},
         costs_of(*rc::gen::inRange(-500, 5000), *rc::gen::inRange(0, 5) == 0 ? "EUR" : "USD")});
  }
  std::vector<ScopeCosts::Scope> scopes;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) scopes.push_back(any_scope());
  const Date last = kFirstDay + std::chrono::days(5);
  ScopeCosts costs(scopes, kFirstDay, last, ledger.source());
  scopes.push_back(any_scope());  // one that was not announced
  for (const ScopeCosts::Scope& scope : scopes) {
    const SummaryQuery query{.first_day = kFirstDay + std::chrono::days(*rc::gen::inRange(0, 3)),
                             .last_day = last - std::chrono::days(*rc::gen::inRange(0, 3)),
                             .bucket = TimeBucket::kDay,
                             .group_by = {},
                             .filters = scope,
                             .as_of = {}};
    const auto got = costs.summarise(query);
    const auto want = ledger.summarise(query);
    RC_ASSERT(got && want);
    RC_ASSERT(*got == *want);
  }
}

std::vector<Budget> team_budgets(int count) {
  std::vector<Budget> budgets;
  for (int i = 0; i < count; ++i) {
    Budget budget;
    budget.name = "b" + std::to_string(i);
    budget.filters = {"cluster=t" + std::to_string(i)};
    budget.amounts = {
        {Date(), Money::from_ticks(Int128{100} * Money::kTicksPerUnit, *Currency::parse("USD"))}};
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

TEST(QueryBudgets, AThousandBudgetsAreAFewQueriesAndNoneWhileTheLedgerIsTheSame) {
  SmallLedger ledger;
  for (int team = 0; team < 1000; ++team) {
    for (int day = 0; day < 3; ++day) {
      ledger.facts.push_back({kFirstDay + std::chrono::days(day),
                              {"", "", "t" + std::to_string(team)},
                              costs_of(100 * team, "USD")});
    }
  }
  const auto budgets = team_budgets(1000);
  BudgetForecasts kept;
  Policy policy;
  BudgetQuery query{.budgets = budgets,
                    .today = kFirstDay + std::chrono::days(3),
                    .forecasts = false,
                    .kept = &kept,
                    .version = 1};
  const auto first = query_budgets(query, policy, ledger.source());
  ASSERT_TRUE(first);
  EXPECT_LE(ledger.asked, 6u);
  EXPECT_EQ((*first)[7].actual, costs_of(2100, "USD").billed);
  EXPECT_EQ((*first)[7].problem, "");
  EXPECT_EQ((*first)[34].state(), "exceeded");
  EXPECT_EQ((*first)[33].state(), "on track");
  ledger.asked = 0;
  query.live_cost = [](const Budget& budget) -> std::optional<LiveCost> {
    if (budget.name != "b7") return std::nullopt;
    return LiveCost{.today = costs_of(50, "USD").billed, .month = costs_of(2500, "USD").billed};
  };
  const auto second = query_budgets(query, policy, ledger.source());
  ASSERT_TRUE(second);
  EXPECT_EQ(ledger.asked, 0u);
  // All days until yesterday are in the ledger: today's is added, and the month adds nothing.
  EXPECT_EQ((*second)[7].actual, costs_of(2150, "USD").billed);
  EXPECT_EQ((*second)[34].actual, (*first)[34].actual);
  // Two days later the ledger has not moved on.
  query.today += std::chrono::days(2);
  const auto third = query_budgets(query, policy, ledger.source());
  ASSERT_TRUE(third);
  EXPECT_GT(ledger.asked, 0u);
  EXPECT_EQ((*third)[7].actual, costs_of(2500, "USD").billed);
  ASSERT_FALSE((*third)[7].notes.empty());
  // A change of the ledger, or of a budget, is seen at once.
  ledger.facts.push_back({kFirstDay, {"", "", "t7"}, costs_of(1, "USD")});
  query.version = 2;
  query.live_cost = {};
  const auto fourth = query_budgets(query, policy, ledger.source());
  ASSERT_TRUE(fourth);
  EXPECT_EQ((*fourth)[7].actual, costs_of(2101, "USD").billed);
}

Money dollars(std::int64_t cents) { return costs_of(cents, "USD").billed; }

Fact any_fact(int days) {
  return {kFirstDay + std::chrono::days(*rc::gen::inRange(0, days)),
          {any_value(), any_value(), any_value()},
          costs_of(*rc::gen::inRange(-500, 5000), *rc::gen::inRange(0, 20) == 0 ? "EUR" : "USD")};
}

Budget any_budget(int number) {
  Budget budget{.name = "b" + std::to_string(number),
                .filters = {*rc::gen::elementOf(kNames) + "=" +
                            *rc::gen::element<std::string>("a", "b", "c", "unknown")},
                .period = *rc::gen::element(BudgetPeriod::kDay, BudgetPeriod::kWeek,
                                            BudgetPeriod::kMonth, BudgetPeriod::kQuarter),
                .amounts = {{Date(), dollars(*rc::gen::inRange(0, 100'000))}}};
  budget.rolls_over = *rc::gen::inRange(0, 3) == 0;
  if (budget.rolls_over) budget.from = kFirstDay + std::chrono::days(*rc::gen::inRange(0, 20));
  if (number > 0 && *rc::gen::inRange(0, 3) == 0) budget.parent = "b0";
  return budget;
}

std::optional<LiveCost> any_live() {
  if (*rc::gen::inRange(0, 3) == 0) return std::nullopt;
  LiveCost live{.today = dollars(*rc::gen::inRange(0, 3000))};
  if (*rc::gen::inRange(0, 2) == 0) live.month = dollars(*rc::gen::inRange(0, 90'000));
  if (*rc::gen::inRange(0, 2) == 0) live.committed = dollars(*rc::gen::inRange(0, 9000));
  live.without_limit = *rc::gen::inRange<std::uint64_t>(0, 2);
  live.without_price = *rc::gen::inRange<std::uint64_t>(0, 2);
  return live;
}

// A ledger that is restated, budgets that people change, live costs and days that go by.
RC_GTEST_PROP(QueryBudgets, WhatIsKeptOfThemIsWhatWouldBeMeasured, ()) {
  constexpr int kDays = 20;
  SmallLedger ledger;
  for (int i = 0; i < 40; ++i) ledger.facts.push_back(any_fact(kDays));
  std::vector<Budget> budgets;
  for (int i = 0; i < 4; ++i) budgets.push_back(any_budget(i));
  std::map<std::string, std::optional<LiveCost>> live;
  const auto live_cost = [&](const Budget& budget) { return live[budget.name]; };
  const Policy policy;
  BudgetForecasts kept;
  BudgetQuery query{.budgets = budgets,
                    .today = kFirstDay + std::chrono::days(kDays),
                    .forecasts = *rc::gen::inRange(0, 4) == 0,
                    .kept = &kept,
                    .version = 1,
                    .live_cost = live_cost};
  for (int step = 0; step < 8; ++step) {
    const auto number = *rc::gen::inRange<std::size_t>(0, budgets.size());
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        ++*query.version;
        ledger.facts.push_back(any_fact(kDays + 15));
        break;
      case 1:
        ++*query.version;
        ledger.facts[*rc::gen::inRange<std::size_t>(0, ledger.facts.size())] = any_fact(kDays);
        break;
      case 2:
        budgets[number] = any_budget(static_cast<int>(number));
        break;
      case 3:
        query.today += std::chrono::days(*rc::gen::inRange(1, 14));
        break;
      case 4:
        live[budgets[number].name] = any_live();
        break;
      default:
        break;  // nothing has changed
    }
    query.budgets = budgets;
    BudgetQuery anew = query;
    anew.kept = nullptr;
    anew.version.reset();
    const auto got = query_budgets(query, policy, ledger.source());
    const auto want = query_budgets(anew, policy, ledger.source());
    RC_ASSERT(got && want);
    RC_ASSERT(*got == *want);
  }
}

}  // namespace
}  // namespace pennyweight
