#include "insight/queries/limit_stops.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/guardrail_config.h"

namespace pennyweight {
namespace {

using guardrails::StopExemption;
using guardrails::StopNotice;
using guardrails::StopState;
using guardrails::StopTerms;
using guardrails::UsageLimit;

const Instant kStopNow = *parse_instant("2026-03-04T08:05:00Z");

struct RunningWork {
  std::string workload;
  std::string team = "nlp";
  std::vector<std::pair<std::string, std::string>> labels = {};
  bool has_gpus = true;
};

LiveShare share_of(const RunningWork& work, const Interval& window) {
  LiveShare share{.workload = WorkloadId(work.workload),
                  .labels = {},
                  .dimensions = {},
                  .nodes = {NodeId("n1")},
                  .gpus = {},
                  .device = "gpu",
                  .since = window.begin(),
                  .running = true,
                  .cost = Money::from_units(1, kUsd),
                  .idle_cost = {},
                  .gpu_time = GpuTime::of(
                      work.has_gpus ? UInt128{CardShare::kUnitsPerCard} * 4 * 300'000 : UInt128{0}),
                  .observed_time = {}};
  if (!work.team.empty()) {
    EXPECT_TRUE(share.dimensions.set("team", work.team));
  }
  for (const auto& [name, value] : work.labels) {
    EXPECT_TRUE(share.labels.set(name, value));
  }
  return share;
}

// Each in a cluster of that name.
std::shared_ptr<const ViewRows> stop_view(
    const std::vector<std::pair<std::string, RunningWork>>& works, Instant at = kStopNow) {
  const Interval window(at - std::chrono::minutes(5), at);
  LiveView view{.at = at, .clusters = {}};
  for (const auto& [name, work] : works) {
    LiveCosts empty{.window = window,
                    .shares = {},
                    .notes = {},
                    .nodes_unpriced = 0,
                    .price_per_hour = {},
                    .gpus = 0};
    LiveCluster made{.cluster = ClusterId(name), .recent = std::move(empty), .today = std::nullopt};
    LiveCluster& cluster =
        view.clusters.try_emplace(ClusterId(name), std::move(made)).first->second;
    cluster.recent.shares.push_back(share_of(work, window));
  }
  return view_rows(std::make_shared<const LiveView>(std::move(view)));
}

Config stop_config(std::vector<StopExemption> exemptions = {}) {
  Config config;
  for (const auto& [name, kind] :
       {std::pair("lab", ClusterKind::kSlurm), {"k8s", ClusterKind::kKubernetes}}) {
    config.clusters.push_back(
        {.name = ClusterId(name), .kind = kind, .origin = {}, .partitions_are_pools = false});
  }
  config.policy.dimensions.push_back(
      {.dimension = "team", .labels = {"team"}, .fallback = "(unowned)"});
  GuardrailConfig guardrails;
  guardrails.limits = {UsageLimit{
      .name = "nlp",
      .per_month = Money::from_units(100, kUsd),
      .stop_running = StopTerms{.grace_ms = 3'600'000, .exemptions = std::move(exemptions)}}};
  config.guardrails = std::make_shared<const GuardrailConfig>(std::move(guardrails));
  return config;
}

// A notice of two hours ago, of which its owner was told then.
StopState stop_state(bool is_of_money = true) {
  const StopNotice notice{.limit = "nlp",
                          .is_of_money = is_of_money,
                          .because = "100.00 USD of 100.00 USD are spent this month",
                          .month = *parse_instant("2026-03-01T00:00:00Z"),
                          .month_end = *parse_instant("2026-04-01T00:00:00Z"),
                          .since = kStopNow - std::chrono::hours(2),
                          .seen = kStopNow,
                          .observed_ms = 2 * 3'600'000};
  return {.notices = {{"nlp", notice}}, .told = {{notice.scope(), notice.since}}};
}

// "lab/1: due: scancel 1"
std::vector<std::string> told_stops(const StopState& state, const ViewRows* view,
                                    const Config& config) {
  std::vector<std::string> out;
  for (const LimitStop& stop : list_limit_stops(state, view, config, kStopNow).stops) {
    out.push_back(stop.cluster + "/" + stop.workload + ": " +
                  std::string(kStopStageWords[static_cast<std::size_t>(stop.stage)]) + ": " +
                  stop.command);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> pod_of(const std::string& kind,
                                                        const std::string& name) {
  return {{"namespace", "ml"}, {"pod", "p-1"}, {"owner_kind", kind}, {"owner_name", name}};
}

TEST(LimitStops, WhatIsDueHasTheCommandThatStopsIt) {
  const auto view = stop_view({{"lab", {"1001_3"}},
                               {"lab", {"1002", "cv"}},
                               {"lab", {"1003", ""}},
                               {"lab", {"1; rm -rf /"}},
                               {"k8s", {"ml/a", "nlp", pod_of("Deployment", "web")}},
                               {"k8s", {"ml/b", "nlp", pod_of("Job", "train")}},
                               {"k8s", {"ml/c", "nlp", pod_of("RayCluster", "ray")}},
                               {"k8s", {"ml/d", "nlp", {{"namespace", "ml"}, {"pod", "d"}}}},
                               {"k8s", {"ml/e", "nlp", pod_of("Job", "$(reboot)")}},
                               {"old", {"7"}}});
  EXPECT_EQ(told_stops(stop_state(), view.get(), stop_config()),
            (std::vector<std::string>{
                "k8s/ml/a: due: kubectl scale deployment --namespace=ml web --replicas=0",
                "k8s/ml/b: due: kubectl patch job --namespace=ml train --type=merge "
                "--patch='{\"spec\":{\"suspend\":true}}'",
                "k8s/ml/c: due: ", "k8s/ml/d: due: kubectl delete pod --namespace=ml d",
                "k8s/ml/e: due: ", "lab/1001_3: due: scancel 1001_3",
                "lab/1; rm -rf /: due: ", "old/7: due: "}));
  const std::string commands =
      stop_commands(list_limit_stops(stop_state(), view.get(), stop_config(), kStopNow));
  EXPECT_NE(commands.find("\nscancel 1001_3  # limit nlp"), std::string::npos) << commands;
  EXPECT_EQ(commands.find("\nrm"), std::string::npos) << commands;
  EXPECT_NE(commands.find("\n# by hand: ml/c"), std::string::npos) << commands;
}

TEST(LimitStops, NothingIsDueThatIsNotToldMeasuredOrSeen) {
  const auto view = stop_view({{"lab", {"1"}}});
  StopState untold = stop_state();
  untold.told.clear();
  EXPECT_EQ(told_stops(untold, view.get(), stop_config())[0], "lab/1: announced: ");
  StopState unmeasured = stop_state();
  unmeasured.notices.at("nlp").is_measured = false;
  EXPECT_EQ(told_stops(unmeasured, view.get(), stop_config())[0], "lab/1: announced: ");
  EXPECT_TRUE(told_stops(stop_state(), nullptr, stop_config()).empty());
  const auto old = stop_view({{"lab", {"1"}}}, kStopNow - std::chrono::minutes(6));
  EXPECT_TRUE(told_stops(stop_state(), old.get(), stop_config()).empty());
  EXPECT_TRUE(told_stops({}, view.get(), stop_config()).empty());
  // The commands are of what is due alone.
  EXPECT_EQ(
      stop_commands(list_limit_stops(untold, view.get(), stop_config(), kStopNow)).find("scancel"),
      std::string::npos);
}

TEST(LimitStops, OfAnotherMonthNothingIsDueOrAnnounced) {
  const auto view = stop_view({{"lab", {"1"}}});
  for (const bool is_told : {true, false}) {
    StopState state = stop_state();
    if (!is_told) state.told.clear();
    EXPECT_EQ(told_stops(state, view.get(), stop_config()).size(), 1U);
    state.notices.at("nlp").month_end = kStopNow;
    const LimitStops stops = list_limit_stops(state, view.get(), stop_config(), kStopNow);
    EXPECT_TRUE(stops.stops.empty());
    EXPECT_TRUE(stops.notes.empty());
  }
}

TEST(LimitStops, WhatIsExemptGoesOn) {
  const auto view = stop_view({{"lab", {"1"}},
                               {"k8s", {"serve/a", "nlp", pod_of("Deployment", "web")}},
                               {"k8s", {"serve/b", "nlp", pod_of("Deployment", "web")}}});
  const Date last = *parse_date("2026-03-04");
  EXPECT_EQ(told_stops(stop_state(), view.get(),
                       stop_config({{.workload = "serve/a", .reason = "r", .until = last}})),
            (std::vector<std::string>{"k8s/serve/b: due: ", "lab/1: due: scancel 1",
                                      "k8s/serve/a: exempt: "}));
  EXPECT_EQ(
      told_stops(
          stop_state(), view.get(),
          stop_config(
              {{.labels = {{"owner_name", "w*"}, {"team", "nlp"}}, .reason = "r", .until = last}}))
          .size(),
      3U);
  // It is over.
  EXPECT_EQ(
      told_stops(
          stop_state(), view.get(),
          stop_config({{.workload = "*", .reason = "r", .until = *parse_date("2026-03-03")}}))[2],
      "lab/1: due: scancel 1");
}

TEST(LimitStops, AnOwnerOfWorkThatIsNotDueIsStoppedByHand) {
  const auto web = pod_of("Deployment", "web");
  const std::string command = "kubectl scale deployment --namespace=ml web --replicas=0";
  const std::vector<std::string> by_hand = {"k8s/ml/a: due: "};
  // Of another team, and of nobody that is known.
  for (const std::string team : {"cv", ""}) {
    const auto view = stop_view({{"k8s", {"ml/a", "nlp", web}}, {"k8s", {"ml/b", team, web}}});
    EXPECT_EQ(told_stops(stop_state(), view.get(), stop_config()), by_hand);
    const std::string commands =
        stop_commands(list_limit_stops(stop_state(), view.get(), stop_config(), kStopNow));
    EXPECT_EQ(commands.find("kubectl"), std::string::npos) << commands;
    EXPECT_NE(commands.find("# by hand: ml/a"), std::string::npos) << commands;
  }
  // Without GPUs, where GPU-hours alone are used up.
  const auto mixed =
      stop_view({{"k8s", {"ml/a", "nlp", web}}, {"k8s", {"ml/b", "nlp", web, false}}});
  EXPECT_EQ(told_stops(stop_state(false), mixed.get(), stop_config()), by_hand);
  EXPECT_EQ(told_stops(stop_state(true), mixed.get(), stop_config())[0],
            "k8s/ml/a: due: " + command);
  // The same name in another namespace or cluster is another owner.
  auto other_space = web;
  other_space[0].second = "vision";
  const auto apart = stop_view({{"k8s", {"ml/a", "nlp", web}},
                                {"k8s", {"vision/a", "cv", other_space}},
                                {"k9s", {"ml/a", "cv", web}}});
  EXPECT_EQ(told_stops(stop_state(), apart.get(), stop_config()),
            std::vector<std::string>{"k8s/ml/a: due: " + command});
}

TEST(LimitStops, WhatAnotherLimitExemptsIsStoppedByHand) {
  const auto web = pod_of("Deployment", "web");
  auto vip = web;
  vip.emplace_back("tier", "vip");
  const auto view = stop_view({{"k8s", {"ml/a", "nlp", web}}, {"k8s", {"ml/b", "nlp", vip}}});
  Config config = stop_config();
  GuardrailConfig guardrails = *config.guardrails;
  guardrails.limits.push_back(guardrails.limits[0]);
  guardrails.limits[1].name = "other";
  guardrails.limits[1].value = "nlp";
  guardrails.limits[1].stop_running->exemptions = {
      {.labels = {{"tier", "vip"}}, .reason = "r", .until = *parse_date("2026-03-04")}};
  config.guardrails = std::make_shared<const GuardrailConfig>(std::move(guardrails));
  StopState state = stop_state();
  EXPECT_NE(told_stops(state, view.get(), config)[0], "k8s/ml/a: due: ");
  StopNotice other = state.notices.at("nlp");
  other.limit = "other";
  state.notices.emplace("other", other);
  state.told.emplace(other.scope(), other.since);
  EXPECT_EQ(told_stops(state, view.get(), config),
            (std::vector<std::string>{
                "k8s/ml/a: due: ", "k8s/ml/b: due: ", "k8s/ml/a: due: ", "k8s/ml/b: exempt: "}));
}

TEST(LimitStops, GpuHoursStopOnlyWorkWithGpus) {
  const auto view = stop_view({{"lab", {"1"}}, {"lab", {"2", "nlp", {}, false}}});
  EXPECT_EQ(told_stops(stop_state(false), view.get(), stop_config()),
            std::vector<std::string>{"lab/1: due: scancel 1"});
  EXPECT_EQ(told_stops(stop_state(true), view.get(), stop_config()).size(), 2U);
}

}  // namespace
}  // namespace pennyweight
