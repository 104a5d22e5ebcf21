// Public FOCUS files, read whole. The sums were computed apart from this program, with Python's
// decimal module over the same files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/focus/column.h"
#include "ingest/bills/focus/focus_bill.h"

namespace pennyweight::focus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string file_text(const std::string& name) {
  std::ifstream in(std::string(TEST_DATA) + "/focus/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

TEST(Samples, ThreeProvidersInTwoVersionsSumToTheLastDigit) {
  struct Case {
    std::string file;
    Version version;
    std::vector<std::string> totals;
  };
  const Case cases[] = {
      {"aws_1_2.csv", Version::k1_2, {"27.339199", "27.339199", "29.127986344", "28.975389544"}},
      {"aws_1_3.csv",
       Version::k1_3,
       {"1020.13743776197748", "287.66680576197748", "1049.73779022610018", "1021.13141646277748"}},
      {"azure_1_2.csv",
       Version::k1_2,
       {"624.24788387618795", "119.31918987618795", "633.17554468826568", "626.13956493218795"}},
      {"azure_1_3.csv",
       Version::k1_3,
       {"29.22750830938535", "29.22750830938535", "33.6454521720711", "30.43377820378535"}},
      {"gcp_1_2.csv",
       Version::k1_2,
       {"1113.58922527449205", "393.37878227449205", "1154.9751612607005", "1115.03642527449205"}},
      {"gcp_1_3.csv",
       Version::k1_3,
       {"195.30688799351503", "195.30688799351503", "217.60062446889232", "195.92476405711503"}},
  };
  for (const Case& c : cases) {
    bill::CollectingSink seen;
    const auto summary = import_csv(file_text(c.file), c.file, seen);
    ASSERT_TRUE(summary) << c.file << ": " << summary.error().message;
    EXPECT_EQ(summary->rows, 25u) << c.file;
    EXPECT_EQ(summary->imported, 25u) << c.file;
    EXPECT_EQ(summary->kind, "FOCUS " + std::string(version_name(c.version))) << c.file;
    EXPECT_EQ(summary->unread_json, 0u) << c.file;
    EXPECT_EQ(summary->rounded_numbers, 0u) << c.file;
    EXPECT_THAT(summary->warnings, IsEmpty()) << c.file;
    EXPECT_EQ(seen.totals(), c.totals) << c.file;
  }
}

TEST(Samples, ALineOfAwsIsReadFieldByField) {
  bill::CollectingSink seen;
  ASSERT_TRUE(import_csv(file_text("aws_1_2.csv"), "aws_1_2.csv", seen));
  const Charge& line = seen.lines[1];
  EXPECT_EQ(line.source.line, 3u);
  EXPECT_EQ(line.service_provider_name, "AWS");
  EXPECT_EQ(line.billing_account_id, "100000000001");
  EXPECT_EQ(line.charge_category, ChargeCategory::kUsage);
  EXPECT_EQ(line.charge_frequency, ChargeFrequency::kUsageBased);
  EXPECT_EQ(line.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(line.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_EQ(line.commitment_discount_category, "Usage");
  EXPECT_EQ(line.instance_type, "m6i.large");
  EXPECT_EQ(line.tags.find("Environment"), "staging");
  EXPECT_EQ(to_text(line.charge_period), "2026-05-01T00:00:00Z/2026-05-01T01:00:00Z");
  EXPECT_EQ(to_text(line.costs.effective.amount()), "0.0664524096");
  EXPECT_EQ(to_text(*line.pricing_quantity), "1.0378");
  EXPECT_THAT(line.other_columns, HasSubstr("\"RegionName\":\"US West (Oregon)\""));
  EXPECT_THAT(line.other_columns, HasSubstr("\"CommitmentDiscountQuantity\":\"1.0378\""));
  EXPECT_THAT(line.other_columns, testing::Not(HasSubstr("ProviderName")));
}

TEST(Samples, TheOfficialSampleIsTakenRowByRow) {
  bill::CollectingSink seen;
  const auto summary =
      import_csv(file_text("official_1_0_sample.csv"), "official_1_0_sample.csv", seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->kind, "FOCUS 1.0");
  EXPECT_EQ(summary->rows, 1000u);
  EXPECT_EQ(summary->imported, 1000u);
  EXPECT_EQ(summary->rejected, 0u);
  EXPECT_EQ(summary->rounded_numbers, 0u);
  EXPECT_EQ(summary->unread_json, 0u);
  // Seven lines of Oracle say NULL where FOCUS demands an amount, and write Usage-based.
  EXPECT_THAT(summary->warnings,
              ElementsAre(HasSubstr("as they are: Id"),
                          HasSubstr("in 7 rows ContractedCost is empty; BilledCost took"),
                          HasSubstr("in 7 rows codes are in another letter case")));
  EXPECT_THAT(seen.totals(),
              ElementsAre("20.52022672899", "14.97651418586", "20.39090575119", "15.51333431799"));
}

// Tables that illustrate one point of the specification: those with all the columns of a bill have
// their lines judged one by one, the others are refused with the columns that they lack.
TEST(Samples, ExamplesOfTheSpecificationAreTakenOrRefusedWithAReason) {
  std::uint64_t tables = 0;
  std::uint64_t refused = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TEST_DATA) + "/focus/spec_examples")) {
    const std::string name = "spec_examples/" + entry.path().filename().string();
    ++tables;
    bill::CollectingSink seen;
    const auto summary = import_csv(file_text(name), name, seen);
    if (!summary) {
      ++refused;
      EXPECT_THAT(summary.error().message, HasSubstr("missing columns: ")) << name;
      continue;
    }
    // Dates such as 4/1/25 and amounts such as "$10,000.00 ": no line can be taken.
    EXPECT_EQ(summary->rejected, summary->rows) << name;
    EXPECT_EQ(seen.bad.size(), summary->rows) << name;
    for (const RejectedRow& row : seen.bad) {
      EXPECT_THAT(row.column, testing::AnyOf("BilledCost", "EffectiveCost", "BillingPeriodStart"))
          << name;
    }
  }
  EXPECT_EQ(tables, 26u);
  EXPECT_EQ(refused, 11u);
}

TEST(Samples, PartialScenariosAreRefusedWithTheColumnsTheyLack) {
  for (const std::string name : {"scenarios_correction_set.csv", "scenarios_sca_equal.csv"}) {
    bill::CollectingSink seen;
    const auto summary = import_csv(file_text(name), name, seen);
    ASSERT_FALSE(summary) << name;
    EXPECT_THAT(summary.error().message,
                testing::ContainsRegex("missing columns: .*ChargePeriodStart"));
    EXPECT_THAT(summary.error().message, HasSubstr("the header has: x_"));
    EXPECT_THAT(seen.lines, IsEmpty());
  }
}

}  // namespace
}  // namespace pennyweight::focus
