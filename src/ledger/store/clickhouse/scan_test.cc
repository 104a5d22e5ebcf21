#include "ledger/store/clickhouse/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using ::testing::HasSubstr;

TEST(ClickhouseScan, FewRowsAreOneSliceWithoutACondition) {
  const IdSlices slices(kSliceRows - 1);
  ASSERT_EQ(slices.count(), 1u);
  EXPECT_EQ(slices.condition("charge_id", 0), "");
}

TEST(ClickhouseScan, SlicesMeetAndLeaveNothingOut) {
  const IdSlices slices(5 * kSliceRows);
  ASSERT_EQ(slices.count(), 6u);
  EXPECT_EQ(slices.condition("id", 0).find(">="), std::string::npos);
  for (std::uint64_t i = 1; i < slices.count(); ++i) {
    const std::string before = slices.condition("id", i - 1), after = slices.condition("id", i);
    const std::string bound = before.substr(before.find("id < ") + 5);
    EXPECT_THAT(after, HasSubstr(" AND id >= " + bound)) << i;
  }
  EXPECT_EQ(slices.condition("id", 5).find("id < "), std::string::npos);
}

TEST(ClickhouseScan, OnlyCurrentRunsOfTheMonth) {
  const auto run = [](const char* month, bool current, std::uint64_t session) {
    return LedgerRun{RunRecord{.run = {.scope = {ClusterId("c"), month},
                                       .number = 1,
                                       .policy = {},
                                       .policy_version = {},
                                       .catalog_version = {},
                                       .time_zone = {},
                                       .program_version = {},
                                       .at = {},
                                       .postings_digest = {},
                                       .postings = 0,
                                       .current = current},
                               .dimensions_digest = {},
                               .postings_sum = {}},
                     session};
  };
  const std::vector<LedgerRun> runs = {run("2026-03", false, 1), run("2026-03", true, 2),
                                       run("2026-04", true, 3)};
  EXPECT_EQ(current_sessions(runs), "(2, 3)");
  EXPECT_EQ(current_sessions(runs, "2026-03"), "(2)");
  EXPECT_EQ(current_sessions(runs, "2026-05"), "(0)");
}

TEST(ClickhouseScan, ASumOfMoneyIsHeldAgainstItsSize) {
  const std::vector<SumColumns> names = {{"billed", "billed_size"}, {"list", "list_size"}};
  EXPECT_EQ(overflow_condition(names),
            "toUInt8(abs(billed_size - toFloat64(billed)) > 1e19 OR abs(list_size - "
            "toFloat64(list)) > 1e19)");
}

}  // namespace
}  // namespace pennyweight
