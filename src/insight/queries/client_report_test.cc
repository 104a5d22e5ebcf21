#include "insight/queries/client_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
                                  std::span<const Table> margins = {}) {
  return query_client_report(
      {.month = "2026-03", .by = "client"},
      [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
        EXPECT_EQ(query.group_by, (std::vector<std::string>{"client", "workload_type", "service"}));
        EXPECT_EQ(query.filters.front().values, std::vector<std::string>{"2026-03"});
        return rows;
      },
      budgets, margins);
}

TEST(ClientReport, WhatEachSpentOnAddsUp) {
  const BudgetStatus status{.budget = {.name = "acme-march", .filters = {"client=acme"}},
                            .amount = usd(0),
                            .carried = usd(0),
                            .actual = usd(0),
                            .left = usd(0),
                            .pace = usd(0),
                            .problem = "no cost"};
  Table margins;
  margins.currency = kUsd;
  margins.columns = {
      {"client", "client"}, {"revenue", "", ColumnKind::kMoney}, {"cost", "", ColumnKind::kMoney}};
  margins.rows = {{std::string("acme"), usd(150), usd(111)}, {std::string("zeta"), usd(5), usd(4)}};
  const auto tables =
      report({row_of("acme", "training", "Amazon EC2", usd(60)),
              row_of("acme", "inference", "Amazon EC2", usd(30)),
              row_of("acme", "training", "Amazon S3", usd(11)),
              row_of("acme", "notebook", "Amazon EC2", usd(10)),
              row_of("zeta", "", "Amazon EC2", usd(7)), row_of("", "", "Amazon EC2", usd(-2)),
              row_of("acme", "", "Kredit", Money::from_units(9, kEur))},
             std::vector{status}, std::vector{margins});
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_EQ(tables->size(), 2u) << "currencies are never mixed";
  const Table& table = (*tables)[0].currency == kUsd ? (*tables)[0] : (*tables)[1];
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0], (Row{std::string("(unowned)"), GpuTime{}, usd(0), usd(0), usd(0),
                                usd(-2), usd(-2), Cell{}, Cell{}, std::string()}));
  EXPECT_EQ(table.rows[1], (Row{std::string("acme"), GpuTime{}, usd(60), usd(30), usd(11), usd(10),
                                usd(111), usd(150), usd(39), std::string("acme-march: unknown")}));
  EXPECT_EQ(table.rows[2], (Row{std::string("zeta"), GpuTime{}, usd(0), usd(0), usd(0), usd(7),
                                usd(7), usd(5), usd(1), std::string()}));
  EXPECT_EQ((*table.total)[6], Cell{usd(116)});
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

}  // namespace
}  // namespace pennyweight
