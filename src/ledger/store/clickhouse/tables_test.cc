#include "ledger/store/clickhouse/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pennyweight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const TableLayout kOne = {.database = "pw", .cluster = ""};
const TableLayout kMany = {.database = "pw", .cluster = "c"};

TEST(ClickhouseTables, EachHasItsSessionAndIsOrderedByColumnsThatAreNeverAbsent) {
  // Tables that are not part of a commit: heartbeats, and what can be computed again.
  const std::set<std::string> of_no_session = {"schema_version", "work_signs", "work_plans"};
  std::set<std::string> names;
  for (const TableSpec& table : clickhouse_tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    std::set<std::string> columns;
    for (const auto& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      const bool is_key =
          (", " + table.order_by + ",").find(", " + column.name + ",") != std::string::npos;
      EXPECT_FALSE(is_key && column.type.starts_with("Nullable")) << column.name;
    }
    EXPECT_NE(columns.contains("session"), of_no_session.contains(table.name)) << table.name;
    EXPECT_EQ(table.spread == TableSpread::kSharded, !table.shard_key.empty()) << table.name;
  }
  EXPECT_EQ(clickhouse_tables().back().name, "schema_version");
}

TEST(ClickhouseTables, OneServerHasPlainTables) {
  EXPECT_THAT(
      create_statements(clickhouse_table("retired_charges"), kOne, false),
      ElementsAre("CREATE TABLE IF NOT EXISTS pw.retired_charges (session UInt64, charge_id "
                  "FixedString(16), reversal Nullable(FixedString(16))) ENGINE = "
                  "MergeTree() ORDER BY (session, charge_id)"));
  EXPECT_EQ(local(kOne, "charges"), "pw.charges");
}

TEST(ClickhouseTables, AClusterHasReplicasBehindOneNameForAll) {
  EXPECT_EQ(local(kMany, "charges"), "pw.charges_local");
  EXPECT_EQ(all(kMany, "charges"), "pw.charges");
  EXPECT_EQ(local(kMany, "runs"), "pw.runs");
  const auto sharded = create_statements(clickhouse_table("charges"), kMany, true);
  ASSERT_EQ(sharded.size(), 2u);
  EXPECT_THAT(sharded[0], StartsWith("CREATE TABLE IF NOT EXISTS pw.charges_local ON CLUSTER c ("));
  EXPECT_THAT(sharded[0], HasSubstr("ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/pw/"
                                    "charges', '{replica}') PARTITION BY booked_month ORDER BY "
                                    "(charge_id) SETTINGS replicated_deduplication_window = "
                                    "1000"));
  EXPECT_THAT(sharded[1], HasSubstr("ENGINE = Distributed(c, pw, charges_local, "
                                    "cityHash64(natural_key))"));
  const auto everywhere = create_statements(clickhouse_table("runs"), kMany, false);
  ASSERT_EQ(everywhere.size(), 1u);
  EXPECT_THAT(everywhere[0],
              HasSubstr("('/clickhouse/tables/everywhere/pw/runs', '{shard}-{replica}')"));
}

}  // namespace
}  // namespace pennyweight
