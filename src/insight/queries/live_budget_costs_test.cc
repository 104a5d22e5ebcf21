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

std::shared_ptr<const ViewRows> view_of(std::vector<LiveShare> shares) {
  LiveCosts costs{.window = kWindow,
                  .shares = std::move(shares),
                  .notes = {},
                  .nodes_unpriced = 0,
                  .price_per_hour = Money::from_units(24, kEur),
                  .gpus = 8};
  LiveView view{.at = kNow, .clusters = {}};
  LiveCluster lab{.cluster = ClusterId("lab"), .recent = costs, .today = costs};
  view.clusters.emplace(ClusterId("lab"), std::move(lab));
  return view_rows(std::make_shared<const LiveView>(std::move(view)));
}

Budget budget_of(const std::string& team, BudgetPeriod period) {
  return {.name = team,
          .filters = {"team=" + team},
          .period = period,
          .amounts = {{Date(), Money::from_units(1000, kEur)}}};
}

Policy policy_of_teams() {
  Policy policy;
  policy.dimensions.push_back({.dimension = "team", .labels = {"team"}, .fallback = "(unowned)"});
  return policy;
}

TEST(LiveBudgetCosts, WhatRunningWorkWillCostUntilItsLimitOrThePeriodEnds) {
  const Policy policy = policy_of_teams();
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
  const auto without_limit = [&](const std::string& team) {
    const auto of = live.of(budget_of(team, BudgetPeriod::kDay));
    return of ? of->without_limit : 99;
  };
  EXPECT_EQ(without_limit("nlp"), 0u);
  EXPECT_EQ(without_limit("cv"), 1u);
  EXPECT_EQ(without_limit("web"), 1u);
  Budget over = budget_of("nlp", BudgetPeriod::kProject);
  over.from = *parse_date("2026-02-01");
  over.to = *parse_date("2026-03-03");
  const auto ended = live.of(over);
  ASSERT_TRUE(ended && ended->committed);
  EXPECT_TRUE(ended->committed->is_zero());
}

TEST(LiveBudgetCosts, TagsOfTheBillAreNotKnownLiveUnlessThePolicySetsThem) {
  Policy policy = policy_of_teams();
  const auto view = view_of({running("a", "nlp", "60")});
  Budget budget = budget_of("nlp", BudgetPeriod::kMonth);
  budget.filters = {"tag:env!=prod"};
  EXPECT_FALSE(LiveBudgetCosts(view, policy).of(budget));
  policy.dimensions.push_back({.dimension = "tag:env", .labels = {"env"}, .fallback = "(none)"});
  EXPECT_TRUE(LiveBudgetCosts(view, policy).of(budget));
}

TEST(LiveBudgetCosts, WorkWithALimitButNoPriceInTheCurrencyIsCounted) {
  const Policy policy = policy_of_teams();
  LiveShare dollars = running("a", "nlp", "60");
  dollars.cost = Money::from_units(1, kUsd);
  const LiveBudgetCosts live(view_of({dollars, running("b", "nlp", "60")}), policy);
  const auto of = live.of(budget_of("nlp", BudgetPeriod::kMonth));
  ASSERT_TRUE(of && of->committed);
  EXPECT_EQ(to_text(of->committed->amount()), "11");
  EXPECT_EQ(of->without_price, 1u);
  EXPECT_EQ(of->without_limit, 0u);
}

}  // namespace
}  // namespace pennyweight
