#include "reporting/export/focus_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pennyweight {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Charge line() {
  Charge charge(Interval(*parse_instant("2026-03-01"), *parse_instant("2026-04-01")),
                Interval(*parse_instant("2026-03-05"), *parse_instant("2026-03-05T01:00:00Z")),
                Costs::zero(kUsd));
  charge.costs.billed = Money::from_decimal(*parse_exact_decimal("-0.0000001"), kUsd);
  charge.service_provider_name = "AWS";
  return charge;
}

std::size_t columns_in(const std::string& csv) {
  const auto end = csv.begin() + static_cast<std::ptrdiff_t>(csv.find('\n'));
  return 1 + static_cast<std::size_t>(std::count(csv.begin(), end, ','));
}

TEST(FocusCsv, HasTheColumnsOfItsVersionThenCustomOnes) {
  Charge charge = line();
  charge.pool = "h100";
  charge.other_columns = R"({"HostProviderName":"AWS","ProviderName":"Amazon","x_Any":"1"})";
  const std::string v3 = *focus_csv(FocusVersion::k1_3, {&charge, 1});
  EXPECT_EQ(columns_in(v3), 65u + 2u);
  EXPECT_THAT(v3, StartsWith("AllocatedMethodDetails,AllocatedMethodId,"));
  EXPECT_THAT(v3, HasSubstr(",SubAccountType,Tags,x_Any,x_PoolId\n"));
  EXPECT_THAT(v3, HasSubstr(",Amazon,AWS,"));
  const std::string v4 = *focus_csv(FocusVersion::k1_4, {&charge, 1});
  EXPECT_EQ(columns_in(v4), 65u + 3u);
  EXPECT_THAT(v4, HasSubstr(",Tags,ProviderName,x_Any,x_PoolId\n"));
}

TEST(FocusCsv, WritesTheFormatsOfTheSpecification) {
  Charge charge = line();
  charge.resource_name = "NULL";
  charge.charge_description = "8 × \"H100\", spot";
  ASSERT_TRUE(charge.tags.set("team", "ml \"a\""));
  const std::string csv = *focus_csv(FocusVersion::k1_4, {&charge, 1});
  EXPECT_THAT(csv, HasSubstr(",-0.0000001,"));
  EXPECT_THAT(csv, HasSubstr(",2026-03-05T01:00:00Z,2026-03-05T00:00:00Z,"));
  EXPECT_THAT(csv, HasSubstr(",\"NULL\","));
  EXPECT_THAT(csv, HasSubstr(",\"8 × \"\"H100\"\", spot\","));
  EXPECT_THAT(csv, HasSubstr(R"("{""team"":""ml \""a\""""}")"));
}

TEST(FocusCsv, RefusesOtherColumnsThatAreNoObjectOfTexts) {
  for (const char* bad : {"[1]", "{\"a\":1}", "{", "x"}) {
    Charge charge = line();
    charge.other_columns = bad;
    EXPECT_FALSE(focus_csv(FocusVersion::k1_4, {&charge, 1})) << bad;
  }
}

}  // namespace
}  // namespace pennyweight
