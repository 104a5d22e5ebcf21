// Summary rows to cost tables: owners first, buckets named, currencies apart, nothing lost.
#include "reporting/cost_report.h"

#include <gtest/gtest.h>

#include "core/card_share.h"

namespace pennyweight {
namespace {

SummaryRow row(std::vector<std::string> keys, std::int64_t units, Currency currency = kUsd) {
  Costs costs = Costs::zero(currency);
  costs.effective = Money::from_units(units, currency);
  costs.billed = Money::from_units(2 * units, currency);
  const bool held = keys.back() == "used";
  return {
      {}, std::move(keys), costs, held ? kGpuHour : GpuTime(), held ? GpuTime() : kGpuHour, {}, {},
      1};
}

std::vector<std::string> first_cells(const Table& table) {
  std::vector<std::string> cells;
  for (const Row& cells_of : table.rows) cells.push_back(std::get<std::string>(cells_of[0]));
  return cells;
}

Money total_of(const Table& table, std::size_t column) {
  return std::get<Money>((*table.total)[column]);
}

TEST(CostTables, OwnersByCostThenBucketsByKind) {
  const CostReport report{.title = "by team", .dimensions = {"team"}};
  EXPECT_EQ(report_group_by(report), (std::vector<std::string>{"team", "kind"}));
  const auto tables = cost_tables(
      std::vector{row({"", "shared"}, 50), row({"", "unallocated"}, 900), row({"cv", "used"}, 10),
                  row({"nlp", "held_idle"}, 5), row({"nlp", "used"}, 10)},
      report);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(first_cells(tables[0]),
            (std::vector<std::string>{"nlp", "cv", "(unallocated)", "(shared)"}));
  EXPECT_EQ(total_of(tables[0], 1), Money::from_units(975, kUsd));
}

TEST(CostTables, NeverMixCurrencies) {
  const auto tables = cost_tables(std::vector{row({"a", "used"}, 1, kEur), row({"a", "used"}, 2)},
                                  {.title = "", .dimensions = {"team"}});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].currency, kEur);
  EXPECT_EQ(total_of(tables[1], 1), Money::from_units(2, kUsd));
}

TEST(CostTables, TopKeepsTheTotalAndTheBuckets) {
  const auto tables = cost_tables(std::vector{row({"a", "used"}, 1), row({"b", "used"}, 2),
                                              row({"c", "used"}, 3), row({"", "unallocated"}, 4)},
                                  {.title = "", .dimensions = {"team"}, .top = 1});
  EXPECT_EQ(first_cells(tables[0]), (std::vector<std::string>{"c", "(2 others)", "(unallocated)"}));
  EXPECT_EQ(total_of(tables[0], 1), Money::from_units(10, kUsd));
}

// Given sums of other owners are shown as if they had been summed here.
TEST(CostTables, OthersMayBeGivenAsTheirSum) {
  const auto days = [](SummaryRow row, int day) {
    row.bucket = std::chrono::sys_days(std::chrono::days(day));
    return row;
  };
  const std::vector<SummaryRow> all = {
      days(row({"", "unallocated"}, 4), 1), days(row({"a", "held_idle"}, 3), 1),
      days(row({"a", "used"}, 3), 1),       days(row({"b", "used"}, 2), 1),
      days(row({"c", "used"}, 1), 1),       days(row({"c", "used"}, 9, kEur), 1),
      days(row({"a", "used"}, 1), 2),       days(row({"c", "used"}, 2), 2)};
  // b and c of the first day, in dollars; a of the second.
  SummaryRow first = all[3], second = all[6];
  first.costs += all[4].costs;
  first.gpu_time += all[4].gpu_time;
  first.keys = second.keys = {};
  const std::vector<SummaryRow> shown = {all[0], all[1], all[2], all[5], all[7]};
  for (const CostSort sort : {CostSort::kCost, CostSort::kKey}) {
    CostReport report{.title = "by team",
                      .dimensions = {"team"},
                      .bucket = TimeBucket::kDay,
                      .sort = sort,
                      .top = 1};
    if (sort == CostSort::kKey) second = all[7];
    second.keys = {};
    const std::vector<SummaryRow> of_sort =
        sort == CostSort::kCost ? shown
                                : std::vector<SummaryRow>{all[0], all[1], all[2], all[5], all[6]};
    EXPECT_EQ(render_json(
                  cost_tables(of_sort, std::vector<OtherOwners>{{first, 2}, {second, 1}}, report)),
              render_json(cost_tables(all, report)));
  }
}

TEST(CostTables, SortByKeyAndSeveralCosts) {
  const auto tables = cost_tables(std::vector{row({"b", "used"}, 2), row({"a", "used"}, 1)},
                                  {.title = "",
                                   .dimensions = {"team"},
                                   .costs = {CostColumn::kBilled, CostColumn::kEffective},
                                   .sort = CostSort::kKey});
  EXPECT_EQ(first_cells(tables[0]), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(total_of(tables[0], 1), Money::from_units(6, kUsd));
  EXPECT_EQ(total_of(tables[0], 2), Money::from_units(3, kUsd));
}

TEST(CostTables, BucketsOfTimeComeInOrder) {
  using std::chrono::sys_days;
  SummaryRow late = row({"a", "used"}, 9);
  late.bucket = sys_days(std::chrono::year(2026) / 3 / 2);
  SummaryRow early = row({"a", "used"}, 1);
  early.bucket = sys_days(std::chrono::year(2026) / 3 / 1);
  const auto tables =
      cost_tables(std::vector{late, early},
                  {.title = "", .dimensions = {"team"}, .bucket = TimeBucket::kDay, .top = 1});
  EXPECT_EQ(first_cells(tables[0]), (std::vector<std::string>{"2026-03-01", "2026-03-02"}));
}

TEST(CostTables, NothingGivesNoTable) {
  EXPECT_TRUE(cost_tables({}, {.title = "", .dimensions = {"team"}}).empty());
}

TEST(ShownKey, NamesWhatHasNoName) {
  EXPECT_EQ(display_key("team", "nlp", "used"), "nlp");
  EXPECT_EQ(display_key("team", "", "used"), "(none)");
  EXPECT_EQ(display_key("team", "", "unallocated"), "(unallocated)");
  EXPECT_EQ(display_key("cluster", "", "shared"), "(no cluster)");
}

}  // namespace
}  // namespace pennyweight
