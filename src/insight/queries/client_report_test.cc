#include "insight/queries/client_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "insight/queries/month_budgets.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

SummaryRow row_of(const std::string& client, const std::string& work, const std::string& service,
                  Money cost) {
  return {.bucket = {},
          .keys = {client, work, service},
          .costs = {cost, cost, cost, cost},
          .gpu_time = {},
          .idle_time = {},
          .memory_time = {},
          .observed_time = {},
          .postings = 1};
}

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }

Result<std::vector<Table>> report(const std::vector<SummaryRow>& rows,
                                  std::span<const BudgetStatus> budgets = {},
                                  std::span<const ClientProfit> profits = {}) {
  return query_client_report(
      {.month = "2026-03", .by = "client"},
      [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
        EXPECT_EQ(query.group_by, (std::vector<std::string>{"client", "workload_type", "service"}));
        EXPECT_EQ(query.filters.front().values, std::vector<std::string>{"2026-03"});
        return rows;
      },
      budgets, profits);
}

TEST(ClientReport, WhatEachSpentOnAddsUp) {
  const BudgetStatus status{.budget = {.name = "acme-march",
                                       .filters = {"client=acme"},
                                       .amounts = {{*parse_date("2026-03-01"), usd(100)}}},
                            .amount = usd(0),
                            .carried = usd(0),
                            .actual = usd(0),
                            .left = usd(0),
                            .pace = usd(0),
                            .problem = "no cost"};
  const std::vector<ClientProfit> profits = {{"acme", usd(150), usd(111)},
                                             {"minimum", usd(20), usd(0)},
                                             {"zeta", usd(5), usd(4)},
                                             {"", usd(0), usd(-2)}};
  const auto tables =
      report({row_of("acme", "training", "Amazon EC2", usd(60)),
              row_of("acme", "inference", "Amazon EC2", usd(30)),
              row_of("acme", "training", "Amazon S3", usd(11)),
              row_of("acme", "notebook", "Amazon EC2", usd(10)),
              row_of("zeta", "", "Amazon EC2", usd(7)), row_of("", "", "Amazon EC2", usd(-2)),
              row_of("acme", "", "Kredit", Money::from_units(9, kEur))},
             std::vector{status}, profits);
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_EQ(tables->size(), 2u) << "currencies are never mixed";
  const Table& table = (*tables)[0].currency == kUsd ? (*tables)[0] : (*tables)[1];
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0], (Row{std::string("(unowned)"), GpuTime{}, usd(0), usd(0), usd(0),
                                usd(-2), usd(-2), Cell{}, Cell{}, std::string()}));
  EXPECT_EQ(table.rows[1], (Row{std::string("acme"), GpuTime{}, usd(60), usd(30), usd(11), usd(10),
                                usd(111), usd(150), usd(39), std::string("acme-march: unknown")}));
  EXPECT_EQ(table.rows[2], (Row{std::string("minimum"), GpuTime{}, usd(0), usd(0), usd(0), usd(0),
                                usd(0), usd(20), usd(20), std::string()}))
      << "one that is charged without a cost";
  EXPECT_EQ(table.rows[3], (Row{std::string("zeta"), GpuTime{}, usd(0), usd(0), usd(0), usd(7),
                                usd(7), usd(5), usd(1), std::string()}));
  EXPECT_EQ((*table.total)[6], Cell{usd(116)});
  EXPECT_EQ((*table.total)[7], Cell{usd(175)});
  EXPECT_EQ((*table.total)[8], Cell{usd(62)}) << "175, less 111, 0, 4 and -2";
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("zeta: invoices of the month count 4")));
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("work of workload_type notebook")));
}

TEST(ClientReport, SaysWhatIsMissing) {
  const auto none = report({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  const auto unknown = report({row_of("acme", "", "Amazon EC2", usd(7))});
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->front().notes,
              testing::Contains(HasSubstr("no workload has the dimension workload_type")));
}

Date day(std::string_view text) { return *parse_date(text); }

// A budget of March that costs 10 a day, 3 on the last one, and 50 on each day of April.
Result<std::vector<BudgetStatus>> march(const Budget& budget, std::string_view today,
                                        bool is_closed) {
  const SummarySource source = [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
    std::vector<SummaryRow> rows;
    const Date last = *query.last_day;
    for (Date at = day("2026-01-01"); at <= std::min(last, day("2026-04-10"));
         at += std::chrono::days(1)) {
      if (at < *query.first_day) continue;
      const std::int64_t cost = at > day("2026-03-31") ? 50 : at == day("2026-03-31") ? 3 : 10;
      SummaryRow row = row_of("acme", "", "", usd(cost));
      row.keys.clear();
      row.bucket = at;
      rows.push_back(row);
    }
    return rows;
  };
  return query_month_budgets({.budgets = {&budget, 1}, .today = day(today)}, "2026-03", is_closed,
                             Policy{}, source);
}

TEST(ClientReport, AMonthThatIsOverIsJudgedByWhatItCost) {
  Budget budget{.name = "acme", .amounts = {{day("2026-01-01"), usd(303)}}};
  const auto closed = march(budget, "2026-04-20", true);
  ASSERT_TRUE(closed) << closed.error().message;
  const BudgetStatus& status = closed->front();
  EXPECT_EQ(status.days.first, day("2026-03-01"));
  EXPECT_EQ(status.actual, usd(303)) << "the last day costs little, and is whole";
  EXPECT_EQ(status.pace, usd(303));
  EXPECT_FALSE(status.forecast);
  EXPECT_FALSE(status.percent_above);
  EXPECT_EQ(status.state(), "on track");
  // Nobody has closed it: the last day looks as if more might come, and so it is said.
  const auto open = march(budget, "2026-04-20", false);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_TRUE(open->front().forecast);
  // A quarter that ends with the month is over as well; a year goes on.
  budget.period = BudgetPeriod::kQuarter;
  budget.amounts.front().amount = usd(892);
  EXPECT_EQ(march(budget, "2026-04-20", true)->front().state(), "exceeded") << "893 of 892";
  budget.period = BudgetPeriod::kYear;
  budget.amounts.front().amount = usd(900);
  const auto year = march(budget, "2026-04-20", true);
  EXPECT_EQ(year->front().actual, usd(893)) << "what came after the month is not in it";
  EXPECT_TRUE(year->front().forecast);
  // While it goes on, it is as of today.
  budget.period = BudgetPeriod::kMonth;
  EXPECT_EQ(march(budget, "2026-03-10", false)->front().actual, usd(100));
}

}  // namespace
}  // namespace pennyweight
