#include "insight/queries/live_budget_costs.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pennyweight {
namespace {

const Instant kNow = *parse_instant("2026-03-04T08:05:00Z");
const Interval kWindow(kNow - std::chrono::minutes(5), kNow);

// Work that began at 8:00 and costs 12 EUR an hour.
LiveShare running(const std::string& workload, const std::string& team, const std::string& limit) {
  LiveShare share{.workload = WorkloadId(workload),
                  .labels = {},
                  .dimensions = {},
                  .nodes = {NodeId("n1")},
                  .gpus = {},
                  .device = "gpu",
                  .since = kWindow.begin(),
                  .running = true,
                  .cost = Money::from_units(1, kEur),
                  .idle_cost = {},
                  .gpu_time = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 4 * 300'000),
                  .observed_time = {}};
  EXPECT_TRUE(share.dimensions.set("team", team));
  if (!limit.empty()) {
    EXPECT_TRUE(share.labels.set("time_limit_minutes", limit));
  }
  return share;
}

std::shared_ptr<const LiveView> view_of(std::vector<LiveShare> shares) {
  LiveCosts costs{.window = kWindow,
                  .shares = std::move(shares),
                  .notes = {},
                  .nodes_unpriced = 0,
                  .price_per_hour = Money::from_units(24, kEur),
                  .gpus = 8};
  LiveView view{.at = kNow, .clusters = {}};
  LiveCluster lab{.cluster = ClusterId("lab"), .recent = costs, .today = costs};
  view.clusters.emplace(ClusterId("lab"), std::move(lab));
  return std::make_shared<const LiveView>(std::move(view));
}

Budget budget_of(const std::string& team, BudgetPeriod period) {
  return {.name = team,
          .filters = {"team=" + team},
          .period = period,
          .amounts = {{Date(), Money::from_units(1000, kEur)}}};
}

TEST(LiveBudgetCosts, WhatRunningWorkWillCostUntilItsLimitOrThePeriodEnds) {
  const Policy policy;
  const LiveBudgetCosts live(
      view_of({running("a", "nlp", "60"), running("b", "nlp", "5"), running("c", "cv", "100000"),
               running("d", "cv", ""), running("e", "web", "soon")}),
      policy);
  const auto committed = [&](const std::string& team, BudgetPeriod period) {
    const auto of = live.of(budget_of(team, period));
    return of && of->committed ? to_text(of->committed->amount()) : "nothing";
  };
  // 55 minutes of the hour are left; the other should have ended by now.
  EXPECT_EQ(committed("nlp", BudgetPeriod::kMonth), "11");
  EXPECT_EQ(committed("cv", BudgetPeriod::kDay), "191");
  EXPECT_EQ(committed("cv", BudgetPeriod::kMonth), "7967");
  EXPECT_EQ(committed("web", BudgetPeriod::kMonth), "nothing");
  EXPECT_EQ(live.of(budget_of("nlp", BudgetPeriod::kDay))->without_limit, 0u);
  EXPECT_EQ(live.of(budget_of("cv", BudgetPeriod::kDay))->without_limit, 1u);
  EXPECT_EQ(live.of(budget_of("web", BudgetPeriod::kDay))->without_limit, 1u);
  Budget over = budget_of("nlp", BudgetPeriod::kProject);
  over.from = *parse_date("2026-02-01");
  over.to = *parse_date("2026-03-03");
  EXPECT_TRUE(live.of(over)->committed->is_zero());
}

}  // namespace
}  // namespace pennyweight
