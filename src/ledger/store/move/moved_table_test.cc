#include "ledger/store/move/moved_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pennyweight::move {
namespace {

using ::testing::HasSubstr;

// Every new table is either moved, or explicitly listed as not moved.
TEST(MovedTable, NoneIsForgotten) {
  for (const TableSpec& table : clickhouse_tables()) {
    const bool moved =
        std::ranges::find(moved_tables(), table.name, &MovedTable::name) != moved_tables().end();
    EXPECT_NE(moved, is_not_moved(table.name)) << table.name;
  }
}

TEST(MovedTable, EveryColumnGoesOnce) {
  for (const MovedTable& table : moved_tables()) {
    std::vector<int> taken(table.spec->columns.size(), 0);
    taken[0] = 1;  // the session
    for (const MovedColumn& column : table.columns) {
      ++taken[column.place];
      if (column.kind == ValueKind::kPairs) ++taken[column.place + 1];
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const bool worked_out = !table.day_of.empty() && table.spec->columns[i].name == "day";
      EXPECT_EQ(taken[i], worked_out ? 0 : 1) << table.name << " " << table.spec->columns[i].name;
    }
  }
}

TEST(MovedTable, MonthsAreThoseOfThePartitions) {
  for (const MovedTable& table : moved_tables()) {
    EXPECT_EQ(table.month_of.empty(), table.spec->partition_by.empty()) << table.name;
    EXPECT_THAT(table.spec->partition_by, HasSubstr(table.month_of));
    if (!table.month_of.empty()) table.column(table.month_of);
    if (!table.day_of.empty()) table.column(table.day_of);
    if (!table.slice_by.empty()) {
      EXPECT_EQ(table.columns[table.column(table.slice_by)].kind, ValueKind::kHash);
    }
  }
}

TEST(MovedTable, KindsAreThoseOfTheColumns) {
  const MovedTable& charges = *std::ranges::find(moved_tables(), "charges", &MovedTable::name);
  const auto& tags = charges.columns[charges.column("tags")];
  EXPECT_EQ(tags.kind, ValueKind::kPairs);
  EXPECT_EQ(tags.names, "tags_keys, tags_values");
  EXPECT_EQ(charges.columns[charges.column("billed_cost")].kind, ValueKind::kDecimal);
  EXPECT_TRUE(charges.columns[charges.column("takes_back")].nullable);
  EXPECT_EQ(charges.columns[charges.column("takes_back")].kind, ValueKind::kHash);
}

}  // namespace
}  // namespace pennyweight::move
