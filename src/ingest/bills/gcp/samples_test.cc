// A public file, read whole. The sum was computed apart from this program, with Python's decimal
// module over the same file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ingest/bills/gcp/gcp_testing.h"

namespace pennyweight::gcp {
namespace {

TEST(Samples, AFlattenedExportWithResources) {
  std::ifstream in(std::string(TEST_DATA) + "/gcp/gcp_2022-08-01_5.csv", std::ios::binary);
  ASSERT_TRUE(in);
  std::ostringstream text;
  text << in.rdbuf();
  const Imported imported = import(text.str());
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.summary.rows, 9u);
  EXPECT_EQ(imported.summary.imported, 9u);
  EXPECT_EQ(imported.summary.charges, 9u);
  EXPECT_EQ(imported.summary.rounded_numbers, 0u);
  EXPECT_EQ(imported.summary.unread_json, 0u);
  EXPECT_THAT(imported.summary.warnings, testing::IsEmpty());
  Costs sum = Costs::zero(kUsd);
  Int128 ticks = 0;
  for (const Charge& line : imported.lines) {
    sum += line.costs;
    ticks += line.pricing_quantity->ticks();
  }
  for (const Money total : {sum.billed, sum.effective, sum.list, sum.contracted}) {
    EXPECT_EQ(to_text(total.amount()), "0.000012");
  }
  EXPECT_EQ(to_text(Decimal::from_ticks(ticks)), "0.000302815");

  const Charge& last = imported.lines[8];
  EXPECT_EQ(last.billing_account_id, "018984-D0AAA4-940B88");
  EXPECT_EQ(last.sub_account_id, "cloud-billing-292519");
  EXPECT_EQ(last.charge_description, "Network Internet Egress from Americas to China");
  EXPECT_EQ(to_text(last.billing_period), "2022-08-01T07:00:00Z/2022-09-01T07:00:00Z");
  EXPECT_EQ(to_text(last.charge_period), "2022-08-01T04:00:00Z/2022-08-01T05:00:00Z");
  EXPECT_EQ(last.resource_id, "//example");
  EXPECT_EQ(last.resource_name, "instance-1");
  EXPECT_EQ(to_text(*last.consumed_quantity), "48491");
  EXPECT_EQ(last.consumed_unit, "bytes");
  EXPECT_EQ(last.other_columns,
            R"({"x_CostType":"regular","x_CurrencyConversionRate":"1",)"
            R"("x_ExportTime":"2022-08-02T01:11:12.066Z","x_Location":"us-central1",)"
            R"("x_LocationCountry":"US","x_PartitionDate":"2022-08-01",)"
            R"("x_ProjectAncestryNumbers":"/1234567/237691936840/",)"
            R"("x_ServiceId":"6F81-5844-456A"})");
}

}  // namespace
}  // namespace pennyweight::gcp
