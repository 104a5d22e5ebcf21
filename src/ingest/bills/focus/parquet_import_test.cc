#include "ingest/bills/parquet_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/duckdb/database.h"
#include "core/limits.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/focus/focus_bill.h"

namespace pennyweight::focus {
namespace {

using testing::HasSubstr;

// A file of this test, gone when it ends.
class Parquet : public testing::Test {
 protected:
  Parquet()
      : path_(std::filesystem::temp_directory_path() /
              ("pennyweight_" + std::to_string(getpid()) + "_bill.parquet")) {}
  ~Parquet() override { std::filesystem::remove(path_); }

  void write(const std::string& select) {
    auto database = duckdb::Database::open({});
    ASSERT_TRUE(database);
    auto connection = database->connect();
    ASSERT_TRUE(connection);
    const auto written = connection->execute(
        "COPY (" + select + ") TO " + duckdb::quote_text(path_.string()) + " (FORMAT parquet)");
    ASSERT_TRUE(written) << written.error().message;
  }

  std::filesystem::path path_;
};

constexpr const char* kNeeded =
    "'USD' AS BillingCurrency, 'Usage' AS ChargeCategory, "
    "TIMESTAMP '2026-03-01' AS BillingPeriodStart, TIMESTAMP '2026-04-01' AS BillingPeriodEnd, "
    "TIMESTAMP '2026-03-05 00:00:00.250' AS ChargePeriodStart, "
    "TIMESTAMPTZ '2026-03-05 03:00:00+02:00' AS ChargePeriodEnd, ";

// DuckDB would read them as doubles: 123.4 as 123.400000000000005684.
TEST_F(Parquet, DecimalsOfMoreThan38DigitsAreRefused) {
  write(std::string("SELECT ") + kNeeded +
        "123.45::DECIMAL(38,2) AS BilledCost, 1 AS EffectiveCost, 1 AS ListCost");
  std::ostringstream text;
  text << std::ifstream(path_, std::ios::binary).rdbuf();
  std::string bytes = text.str();
  // In the footer, in Thrift's compact protocol: the precision 38 becomes 50.
  std::size_t changed = 0;
  for (std::size_t at = bytes.size() / 4; (at = bytes.find("\x15\x4C", at)) != std::string::npos;
       ++at) {
    bytes[at + 1] = 0x64;
    ++changed;
  }
  ASSERT_GT(changed, 0u);
  std::ofstream(path_, std::ios::binary) << bytes;
  bill::CollectingSink seen;
  const auto summary = import_parquet(path_.string(), seen);
  ASSERT_FALSE(summary) << to_text(seen.lines.at(0).costs.billed.amount());
  EXPECT_THAT(summary.error().message, HasSubstr("BilledCost holds decimals of more than 38"));
}

TEST_F(Parquet, ReadsEveryTypeExactly) {
  write(std::string("SELECT ") + kNeeded +
        "12345678901234567890.123456789012345678::DECIMAL(38,18) AS BilledCost, "
        "0.1::DOUBLE AS EffectiveCost, 1e20::DOUBLE / 10 AS ListCost, 7::BIGINT AS ContractedCost, "
        "MAP {'team': 'ml', 'app': 'x\"y'} AS Tags, "
        "{'InstanceType': 'p5.48xlarge', 'GpuCount': 8} AS SkuPriceDetails, "
        "NULL::VARCHAR AS ResourceName, 'NULL' AS ResourceId, 'raw'::BLOB AS RegionId, "
        "[1, 2] AS x_List, true AS x_Flag");
  bill::CollectingSink seen;
  const auto summary = import_parquet(path_.string(), seen);
  ASSERT_TRUE(summary) << summary.error().message;
  ASSERT_EQ(seen.lines.size(), 1u) << (seen.bad.empty() ? "" : seen.bad[0].reason);
  const Charge& charge = seen.lines[0];
  EXPECT_EQ(to_text(charge.costs.billed.amount()), "12345678901234567890.123456789012345678");
  EXPECT_EQ(to_text(charge.costs.effective.amount()), "0.1");
  EXPECT_EQ(to_text(charge.costs.list.amount()), "10000000000000000000");
  EXPECT_EQ(to_text(charge.costs.contracted.amount()), "7");
  EXPECT_EQ(to_text(charge.charge_period), "2026-03-05T00:00:00.250Z/2026-03-05T01:00:00Z");
  EXPECT_EQ(charge.tags.find("app"), "x\"y");
  EXPECT_EQ(charge.instance_type, "p5.48xlarge");
  EXPECT_EQ(charge.resource_name, "");
  EXPECT_EQ(charge.resource_id, "NULL");
  EXPECT_EQ(charge.region_id, "raw");
  EXPECT_EQ(charge.other_columns, R"({"x_Flag":"true","x_List":"[1,2]"})");
}

TEST_F(Parquet, RejectsRowsByTheirNumber) {
  write(std::string("SELECT ") + kNeeded +
        "1 AS BilledCost, 1 AS ListCost, 1 AS ContractedCost, "
        "CASE WHEN i = 3 THEN 'nan'::DOUBLE WHEN i = 4 THEN NULL ELSE 0.5 END AS EffectiveCost"
        ", CASE i WHEN 1 THEN 'a' || chr(0) WHEN 2 THEN repeat('x', 2000000) END AS x_Text "
        "FROM range(1, 8) AS t(i)");
  bill::CollectingSink seen;
  const auto summary = import_parquet(path_.string(), seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->imported, 3u);
  EXPECT_EQ(summary->rejected, 4u);
  EXPECT_THAT(seen.bad[0].reason, HasSubstr("row 1: a NUL byte in the text"));
  EXPECT_THAT(seen.bad[1].reason, HasSubstr("row 2: 2000000 bytes, more than the 1048576 allowed"));
  EXPECT_EQ(seen.bad[1].text.size(), limits::kRejectedTextBytesMax);
  EXPECT_THAT(seen.bad[2].reason, HasSubstr("row 3: EffectiveCost: 'nan' is not a decimal"));
  EXPECT_THAT(seen.bad[3].reason, HasSubstr("row 4: EffectiveCost is empty"));
}

TEST_F(Parquet, EqualsTheCsvOfTheSameBill) {
  const std::string csv = std::string(TEST_DATA) + "/focus/aws_1_3.csv";
  write(
      "SELECT * REPLACE (BilledCost::DECIMAL(38,14) AS BilledCost, "
      "ListUnitPrice::DECIMAL(38,16) AS ListUnitPrice, ChargePeriodStart::TIMESTAMPTZ AS "
      "ChargePeriodStart) FROM read_csv(" +
      duckdb::quote_text(csv) + ", all_varchar = true, header = true)");
  std::ifstream in(csv, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  bill::CollectingSink from_csv;
  bill::CollectingSink from_parquet;
  ASSERT_TRUE(import_csv(text.str(), csv, from_csv));
  const auto summary = import_parquet(path_.string(), from_parquet);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->kind, "FOCUS 1.3");
  ASSERT_EQ(from_parquet.lines.size(), 25u);
  for (std::size_t i = 0; i < 25; ++i) {
    from_csv.lines[i].source = {};
    EXPECT_TRUE(from_csv.lines[i] == from_parquet.lines[i])
        << difference(from_csv.lines[i], from_parquet.lines[i]);
  }
}

// AWS puts exports into folders such as BILLING_PERIOD=2026-03. A copy elsewhere is the same bill.
TEST_F(Parquet, FoldersAreNoColumnsAndNamesNoPatterns) {
  write(std::string("SELECT ") + kNeeded +
        "1 AS BilledCost, 1 AS EffectiveCost, 1 AS ListCost, 1 AS ContractedCost");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("pennyweight_" + std::to_string(getpid()));
  bill::CollectingSink here;
  ASSERT_TRUE(import_parquet(path_.string(), here));
  ASSERT_EQ(here.lines.size(), 1u);
  for (const char* name : {"BILLING_PERIOD=2026-03/a.parquet", "year=2026/month=3/a.parquet",
                           "a1.parquet", "a[1].parquet", "a*.parquet", "a?.parquet"}) {
    const std::filesystem::path copy = folder / name;
    std::filesystem::create_directories(copy.parent_path());
    std::filesystem::copy_file(path_, copy);
    bill::CollectingSink there;
    const auto summary = import_parquet(copy.string(), there);
    ASSERT_TRUE(summary) << summary.error().message;
    ASSERT_EQ(there.lines.size(), 1u) << name;
    EXPECT_TRUE(there.lines[0] == here.lines[0]) << difference(here.lines[0], there.lines[0]);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Parquet, SaysHowMuchItUnpacksTo) {
  write("SELECT 7 AS a, 'x' AS b FROM range(1000000)");  // packed into some bytes
  EXPECT_LT(std::filesystem::file_size(path_), 100'000u);
  EXPECT_EQ(bill::unpacks_to_more(path_.string(), 1'900'000), true);
  EXPECT_EQ(bill::unpacks_to_more(path_.string(), 100'000'000), false);
  EXPECT_FALSE(bill::unpacks_to_more("/no/such.parquet", 1));
}

// The path may be that of a copy.
TEST_F(Parquet, RowsAndErrorsSayTheName) {
  write("SELECT 1 AS BilledCost");
  bill::CollectingSink seen;
  const auto summary = bill::import_parquet(path_.string(), "march.parquet", focus_bill(), seen);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("march.parquet"));
  EXPECT_THAT(summary.error().message, testing::Not(HasSubstr(path_.string())));
}

TEST_F(Parquet, FilesThatAreNotAreErrors) {
  bill::CollectingSink seen;
  EXPECT_EQ(import_parquet("/", seen).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(import_parquet("/no/such.parquet", seen).error().code, ErrorCode::kNotFound);
  for (const char* bytes : {"", "PAR1", "a,b\n1,2\n"}) {
    std::ofstream(path_, std::ios::binary) << bytes;
    EXPECT_FALSE(import_parquet(path_.string(), seen)) << bytes;
  }
  write("SELECT 1 AS BilledCost");
  EXPECT_THAT(import_parquet(path_.string(), seen).error().message,
              HasSubstr("missing columns: BillingCurrency"));
}

}  // namespace
}  // namespace pennyweight::focus
