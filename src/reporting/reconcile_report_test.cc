// Lines beside postings: what is off is named to the last digit.
#include "reporting/reconcile_report.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

Costs costs(const char* text) {
  const Money money = Money::from_decimal(parse_decimal(text)->value, kUsd);
  return {money, money, money, money};
}

LineCheck line(const char* billed, const char* posted, std::uint64_t postings) {
  const Interval hour(from_unix_seconds(0), from_unix_seconds(3600));
  return {Charge(hour, hour, costs(billed)), costs(posted), postings};
}

TEST(WhatIsOff, NamesEachCost) {
  EXPECT_EQ(describe_differences(line("1", "1", 1)), "");
  EXPECT_EQ(describe_differences(line("1", "0", 0)), "never allocated");
  LineCheck off = line("1", "1", 2);
  off.posted.list = Money::from_ticks(off.posted.list.ticks() + 1, kUsd);
  EXPECT_EQ(describe_differences(off), "list off by 0.000000000000000001");
}

TEST(ReconcileTables, ShowEveryCostAndItsDifference) {
  const ReconcileTotals totals{costs("10.5"), costs("10.5"), 3, 0, 0};
  const auto tables = reconcile_tables("2026-03", std::vector{totals});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].title,
            "2026-03, USD: 3 bill lines, 3 exact, 0 off, 0 of them never allocated");
  EXPECT_EQ(render_csv(tables),
            "cost,currency,lines,posted,difference\nbilled,USD,10.5,10.5,0\n"
            "effective,USD,10.5,10.5,0\nlist,USD,10.5,10.5,0\ncontracted,USD,10.5,10.5,0\n");
}

TEST(LineTables, SayExactOrWhatIsOff) {
  const auto tables =
      charge_check_tables("lines", std::vector{line("1", "1", 1), line("1", "2", 1)});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(std::get<std::string>(tables[0].rows[0].back()), "exact");
  EXPECT_EQ(std::get<std::string>(tables[0].rows[1].back()),
            "billed off by 1, effective off by 1, list off by 1, contracted off by 1");
}

TEST(GroupedReconciliation, AddUpByWhatLinesSayOfThemselves) {
  GroupedReconciliation ledgers(ReconcileBy::kService, TimeZone::utc());
  LineCheck compute = line("1.25", "1.25", 1);
  compute.charge.service_name = "Compute";
  ledgers.add(compute);
  ledgers.add(compute);
  EXPECT_TRUE(ledgers.exact());
  ledgers.add(line("3", "0", 0));
  EXPECT_FALSE(ledgers.exact());
  EXPECT_EQ(render_csv(ledgers.tables("2026-03")),
            "service,lines,off,currency,billed_lines,billed_difference,effective_lines,"
            "effective_difference\n"
            "(no service),1,1,USD,3,-3,3,-3\nCompute,2,0,USD,2.5,0,2.5,0\n");
}

TEST(ParseReconcileBy, TakesItsFourNames) {
  EXPECT_EQ(parse_reconcile_by("day"), ReconcileBy::kDay);
  EXPECT_EQ(parse_reconcile_by("team"), std::nullopt);
}

TEST(RejectedTable, HasFileLineAndReason) {
  const Table table = rejected_table(std::vector{RejectedRow{"a.csv", 7, "Start", "no time", "x"}});
  EXPECT_EQ(render_csv({table}), "file,line,column,reason\na.csv,7,Start,no time\n");
}

}  // namespace
}  // namespace pennyweight
