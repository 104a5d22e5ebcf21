// Summary rows become workloads and months: nothing is lost, and currencies stay apart.
#include "server/api/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/card_share.h"
#include "server/api/summary.h"

namespace pennyweight::api {
namespace {

using testing::ElementsAre;

SummaryRow row(std::vector<std::string> keys, std::int64_t units, Currency currency = kUsd) {
  Costs costs = Costs::zero(currency);
  costs.effective = Money::from_units(units, currency);
  return {{}, std::move(keys), costs, kGpuHour, kGpuHour, {}, kGpuHour, 1};
}

std::vector<std::string> names(const std::vector<WorkloadSums>& all) {
  std::vector<std::string> found;
  for (const WorkloadSums& sums : all) found.push_back(sums.workload);
  return found;
}

TEST(WorkloadSums, OneEachByWhatIsAsked) {
  EXPECT_EQ(workload_keys({"team"}),
            (std::vector<std::string>{"cluster", "workload", "kind", "team"}));
  const std::vector<SummaryRow> rows = {
      row({"lab", "", "unallocated", ""}, 900), row({"lab", "a", "used", "nlp"}, 5),
      row({"lab", "a", "held_idle", "nlp"}, 1), row({"lab", "b", "used", "cv"}, 4),
      row({"lab", "b", "held_idle", "cv"}, 3),  row({"sky", "a", "overhead", ""}, 2)};
  const auto by_cost = workload_sums(rows, WorkloadOrder::kCost);
  EXPECT_THAT(names(by_cost), ElementsAre("b", "a", "a"));
  EXPECT_EQ(by_cost[0].effective, Money::from_units(7, kUsd));
  EXPECT_EQ(by_cost[0].used, Money::from_units(4, kUsd));
  EXPECT_EQ(by_cost[0].idle, Money::from_units(3, kUsd));
  EXPECT_THAT(by_cost[0].dimensions, ElementsAre("cv"));
  EXPECT_EQ(by_cost[2].used, Money::zero(kUsd)) << "overhead is neither used nor idle";
  EXPECT_THAT(names(workload_sums(rows, WorkloadOrder::kName)), ElementsAre("a", "a", "b"));
  EXPECT_THAT(names(workload_sums(rows, WorkloadOrder::kIdle)), ElementsAre("b", "a", "a"));
  EXPECT_EQ(workload_sums(rows, WorkloadOrder::kGpuHours)[2].cluster, "sky");
}

TEST(WorkloadSums, CurrenciesApart) {
  const std::vector<SummaryRow> rows = {row({"lab", "a", "used"}, 1),
                                        row({"lab", "a", "used"}, 2, kEur)};
  EXPECT_EQ(workload_sums(rows, WorkloadOrder::kCost).size(), 2U);
}

TEST(MonthSums, KindsAddUpToTheTotal) {
  const std::vector<SummaryRow> rows = {row({"used"}, 5), row({"held_idle"}, 2),
                                        row({"shared"}, -1), row({"used"}, 9, kEur)};
  const auto sums = month_sums("2026-03", rows);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].total, Money::from_units(9, kEur));
  EXPECT_EQ(sums[1].total, Money::from_units(6, kUsd));
  EXPECT_EQ(sums[1].by_kind.at(PostingKind::kShared), Money::from_units(-1, kUsd));
  EXPECT_FALSE(sums[1].by_kind.contains(PostingKind::kStranded));
  EXPECT_EQ(sums[1].held, kGpuHour + kGpuHour + kGpuHour);
}

}  // namespace
}  // namespace pennyweight::api
