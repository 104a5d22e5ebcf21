// Users with a scope see their workloads and no totals.
#include "server/api/scope.h"

#include <gtest/gtest.h>

#include "config/config.h"
#include "server/api/live_for_tests.h"
#include "server/api/live_now.h"

namespace pennyweight::api {
namespace {

const ClusterId kLabCluster("lab");
const Scope kNlp = {{"team", {"nlp"}, false}};

Labels of_team(const std::string& team) {
  Labels labels;
  EXPECT_TRUE(labels.set("team", team));
  return labels;
}

TEST(Sees, EveryPartOfAScopeMustHold) {
  const WorkloadId job("7");
  EXPECT_TRUE(sees({}, kLabCluster, job, {}));
  EXPECT_TRUE(sees(kNlp, kLabCluster, job, of_team("nlp")));
  EXPECT_FALSE(sees(kNlp, kLabCluster, job, of_team("cv")));
  EXPECT_FALSE(sees(kNlp, kLabCluster, job, {}));
  EXPECT_TRUE(sees({{"team", {"cv", "nlp"}, false}}, kLabCluster, job, of_team("nlp")));
  EXPECT_TRUE(sees({{"cluster", {"lab"}, false}, kNlp[0]}, kLabCluster, job, of_team("nlp")));
  EXPECT_FALSE(sees({{"cluster", {"other"}, false}, kNlp[0]}, kLabCluster, job, of_team("nlp")));
  EXPECT_TRUE(sees({{"workload", {"7"}, false}}, kLabCluster, job, {}));
}

TEST(Sees, WhatIsNotKnownIsRefused) {
  const WorkloadId job("7");
  EXPECT_FALSE(sees({{"node", {"n1"}, false}}, kLabCluster, job, of_team("nlp")));
  EXPECT_FALSE(sees({{"team", {""}, false}}, kLabCluster, job, {}))
      << "the lack of a team is no team";
  EXPECT_FALSE(sees({{"team", {"cv"}, true}}, kLabCluster, job, of_team("nlp"))) << "never negated";
  EXPECT_FALSE(sees({{"team", {}, false}}, kLabCluster, job, of_team("nlp"))) << "no value is none";
}

TEST(SelectsWholeWorkloads, NodesAndKindsCutThroughThem) {
  const Policy policy = default_config().policy;
  EXPECT_TRUE(selects_whole_workloads({}, policy));
  EXPECT_TRUE(selects_whole_workloads(kNlp, policy));
  EXPECT_TRUE(selects_whole_workloads({{"cluster", {"lab"}, false}}, policy));
  EXPECT_FALSE(selects_whole_workloads({{"node", {"n1"}, false}}, policy));
  EXPECT_FALSE(selects_whole_workloads({kNlp[0], {"kind", {"used"}, false}}, policy));
}

TEST(CutToScope, LeavesNothingOfOthers) {
  LiveView view = live_view({live_share("", "", "n2", 1), live_share("a", "nlp", "n1", 2),
                             live_share("b", "cv", "n1", 3)});
  view.clusters.at(kLabCluster).today = view.clusters.at(kLabCluster).recent;
  const LiveView own = restrict_to_scope(view, kNlp);
  const LiveCluster& lab = own.clusters.at(kLabCluster);
  for (const LiveCosts* costs : {&lab.recent, &*lab.today}) {
    ASSERT_EQ(costs->shares.size(), 1U);
    EXPECT_EQ(costs->shares[0].workload.text(), "a");
    EXPECT_TRUE(costs->notes.empty()) << "they name nodes";
    EXPECT_TRUE(costs->node_prices.empty());
    EXPECT_FALSE(costs->price_per_hour);
    EXPECT_EQ(costs->gpus, 0U);
  }
  ASSERT_EQ(lab.earlier->size(), 1U);
  EXPECT_TRUE(lab.earlier->contains(WorkloadId("a")));
  EXPECT_TRUE(restrict_to_scope(view, {{"team", {"ops"}, false}}).clusters.empty());
}

TEST(LiveNow, AddsUpToThePriceOfTheNodes) {
  const LiveView view = live_view({live_share("", "", "n2", 1), live_share("a", "nlp", "n1", 2),
                                   live_share("b", "cv", "n1", 3)});
  EXPECT_EQ(live_now_json(&view, false),
            R"({"at":"2026-03-04T08:05:00Z","clusters":[{"cluster":"lab","watched":true,)"
            R"("currency":"EUR",)"
            R"("cost_per_hour":"24","held_per_hour":"15","held_idle_per_hour":"7.5",)"
            R"("unallocated_per_hour":"9","gpus":8,"gpus_held":5,"gpus_busy":2.5,)"
            R"("notes":["node n9 has no price"]}]})");
  EXPECT_EQ(live_now_json(nullptr, false), R"({"at":null,"clusters":[]})");
}

TEST(LiveNow, OfAScopeTellsNoSize) {
  const LiveView view = live_view({live_share("", "", "n2", 1), live_share("a", "nlp", "n1", 2),
                                   live_share("b", "cv", "n1", 3)});
  const LiveView own = restrict_to_scope(view, kNlp);
  EXPECT_EQ(live_now_json(&own, true),
            R"({"at":"2026-03-04T08:05:00Z","clusters":[{"cluster":"lab","watched":true,)"
            R"("currency":"EUR",)"
            R"("cost_per_hour":"6","held_per_hour":"6","held_idle_per_hour":"3",)"
            R"("unallocated_per_hour":null,"gpus":2,"gpus_held":2,"gpus_busy":1,"notes":[]}]})");
}

}  // namespace
}  // namespace pennyweight::api
