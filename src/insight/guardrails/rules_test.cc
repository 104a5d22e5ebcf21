#include "insight/guardrails/rules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pennyweight::guardrails {
namespace {

constexpr Date kToday = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);

Money dollars(std::int64_t units) { return Money::from_units(units, kUsd); }

// A service of two replicas of four H100 each in us-east-1, at 80 an hour.
WorkloadEstimate service() {
  WorkloadEstimate workload;
  workload.workload.kind = "Deployment";
  workload.workload.name_space = "ml";
  workload.workload.name = "chat";
  workload.workload.labels = {{"team", "nlp"}, {"cost-center", ""}};
  GroupEstimate group;
  group.group.replicas = 2;
  group.group.gpus = {manifests::whole_gpus(4)};
  group.machine = PricedMachine{.provider = "aws",
                                .instance_type = "p5.48xlarge",
                                .gpu_model = "H100-SXM5-80GB",
                                .region = "us-east-1",
                                .option = PurchaseOption::kOnDemand,
                                .per_hour = dollars(80),
                                .source = ""};
  group.gpu = dollars(80);
  group.per_month = dollars(58'400);
  workload.groups = {group};
  return workload;
}

WorkloadEstimate run_of(std::optional<std::uint64_t> hours) {
  WorkloadEstimate workload = service();
  workload.workload.lifetime = manifests::Lifetime::kRun;
  GroupEstimate& group = workload.groups[0];
  group.per_month.reset();
  if (hours) {
    group.group.replica_ms_max = *hours * 3'600'000 * group.group.replicas;
    group.per_run_max = dollars(static_cast<std::int64_t>(80 * *hours));
  }
  return workload;
}

WorkloadEstimate unpriced_service() {
  WorkloadEstimate workload = service();
  workload.groups[0].problem = "no model";
  workload.groups[0].machine.reset();
  return workload;
}

Decision judge(const WorkloadEstimate& workload, const RuleConditions& when,
               RuleEffect effect = RuleEffect::kDeny, RuleMode mode = RuleMode::kEnforce) {
  const GuardrailRule rule{.name = "r", .mode = mode, .effect = effect, .when = when};
  return judge_workload(workload, {&rule, 1}, kUsd, kToday).decision;
}

bool applies(const WorkloadEstimate& workload, const RuleConditions& when) {
  return judge(workload, when) == Decision::kDenied;
}

TEST(Rules, EachConditionHoldsExactlyWhereItSays) {
  struct ConditionCase {
    const char* name;
    RuleConditions holds;
    RuleConditions fails;
  };
  const ConditionCase cases[] = {
      {"kind", {.kinds = {"Job", "deploy*"}}, {.kinds = {"Job"}}},
      {"namespace", {.namespaces = {"m*"}}, {.namespaces = {"prod"}}},
      {"name", {.names = {"chat"}}, {.names = {"cha"}}},
      {"label", {.labels = {{"team", "n*"}}}, {.labels = {{"team", "n*"}, {"x", "*"}}}},
      {"missing", {.labels_missing = {"team", "owner"}}, {.labels_missing = {"team"}}},
      {"empty is missing", {.labels_missing = {"cost-center"}}, {.labels_missing = {"team"}}},
      {"model", {.gpu_models = {"H100*"}}, {.gpu_models = {"A100*"}}},
      {"region", {.regions = {"us-*"}}, {.regions = {"eu-*"}}},
      {"region_not", {.regions_except = {"eu-*"}}, {.regions_except = {"us-*"}}},
      {"provider", {.providers = {"aws"}}, {.providers = {"gcp"}}},
      {"gpus", {.gpus_above = 7}, {.gpus_above = 8}},
      {"hour", {.per_hour_above = dollars(79)}, {.per_hour_above = dollars(80)}},
      {"month", {.per_month_above = dollars(58'399)}, {.per_month_above = dollars(58'400)}},
      {"spot", {.spot = false}, {.spot = true}},
      {"priced", {.priced = true}, {.priced = false}},
      {"all of them", {.kinds = {"*"}, .gpus_above = 1}, {.kinds = {"*"}, .gpus_above = 8}},
  };
  for (const ConditionCase& one : cases) {
    EXPECT_TRUE(applies(service(), one.holds)) << one.name;
    EXPECT_FALSE(applies(service(), one.fails)) << one.name;
  }
}

TEST(Rules, RunsMeetLimitsOfTimeAndCost) {
  EXPECT_TRUE(applies(run_of(2), {.per_run_above = dollars(159)}));
  EXPECT_FALSE(applies(run_of(2), {.per_run_above = dollars(160)}));
  EXPECT_TRUE(applies(run_of(2), {.run_ms_above = 7'199'999}));
  EXPECT_FALSE(applies(run_of(2), {.run_ms_above = 7'200'000}));
  // They are about runs.
  EXPECT_FALSE(applies(service(), {.per_run_above = dollars(1)}));
  EXPECT_FALSE(applies(service(), {.run_ms_above = 1}));
}

TEST(Rules, GpusThatCanNotBeCountedAreAboveEveryLimit) {
  const RuleConditions when{.gpus_above = 1'000};
  EXPECT_FALSE(applies(unpriced_service(), when));  // without a price, but eight of them
  WorkloadEstimate claim = unpriced_service();
  claim.groups[0].group.gpus.clear();
  claim.groups[0].group.problem = "the claim 'x' is in none of the files";
  EXPECT_TRUE(applies(claim, when));
  WorkloadEstimate whole = unpriced_service();  // whole nodes of an unknown kind
  whole.groups[0].group.gpus.clear();
  whole.groups[0].group.takes_whole_machines = true;
  EXPECT_TRUE(applies(whole, when));
  // Two machines of eight, which the request does not count.
  whole.groups[0].problem.clear();
  whole.groups[0].gpu_units = UInt128{16} * CardShare::kUnitsPerCard;
  EXPECT_TRUE(applies(whole, {.gpus_above = 15}));
  EXPECT_FALSE(applies(whole, {.gpus_above = 16}));
}

TEST(Rules, WhatIsNotKnownNeverPasses) {
  EXPECT_TRUE(applies(run_of(std::nullopt), {.per_run_above = dollars(1'000'000)}));
  EXPECT_TRUE(applies(run_of(std::nullopt), {.run_ms_above = 1'000'000'000'000}));
  EXPECT_TRUE(applies(unpriced_service(), {.per_hour_above = dollars(1'000'000)}));
  EXPECT_TRUE(applies(unpriced_service(), {.per_month_above = dollars(1'000'000)}));
  EXPECT_TRUE(applies(unpriced_service(), {.regions_except = {"*"}}));
  EXPECT_TRUE(applies(unpriced_service(), {.priced = false}));
}

TEST(Rules, AnAutoscalerCountsAtItsLimit) {
  WorkloadEstimate workload = service();
  workload.groups[0].group.replicas_max = 10;
  workload.groups[0].per_month_max = dollars(292'000);
  EXPECT_TRUE(applies(workload, {.gpus_above = 39}));
  EXPECT_TRUE(applies(workload, {.per_month_above = dollars(291'999)}));
}

TEST(Rules, ModesAndEffectsDecideTogether) {
  const RuleConditions any = {.kinds = {"*"}};
  EXPECT_EQ(judge(service(), any, RuleEffect::kWarn), Decision::kWarned);
  EXPECT_EQ(judge(service(), any, RuleEffect::kRequireApproval), Decision::kNeedsApproval);
  EXPECT_EQ(judge(service(), any, RuleEffect::kAllow), Decision::kAllowed);
  EXPECT_EQ(judge(service(), any, RuleEffect::kDeny, RuleMode::kWarn), Decision::kWarned);
  EXPECT_EQ(judge(service(), any, RuleEffect::kDeny, RuleMode::kAudit), Decision::kAllowed);
}

TEST(Rules, TheStrictestCountsAndAllowEndsTheTrial) {
  const RuleConditions any = {.kinds = {"*"}};
  std::vector<GuardrailRule> rules = {
      {.name = "warns", .effect = RuleEffect::kWarn, .when = any},
      {.name = "denies", .effect = RuleEffect::kDeny, .when = any},
      {.name = "asks", .effect = RuleEffect::kRequireApproval, .when = any}};
  Verdict verdict = judge_workload(service(), rules, kUsd, kToday);
  EXPECT_EQ(verdict.decision, Decision::kDenied);
  EXPECT_EQ(verdict.hits.size(), 3U);
  rules.insert(rules.begin() + 1, {.name = "lets", .effect = RuleEffect::kAllow, .when = any});
  verdict = judge_workload(service(), rules, kUsd, kToday);
  EXPECT_EQ(verdict.decision, Decision::kWarned);
  EXPECT_EQ(verdict.hits.size(), 2U);
  rules[1].mode = RuleMode::kAudit;  // an allow that is only tried lets nothing through
  EXPECT_EQ(judge_workload(service(), rules, kUsd, kToday).decision, Decision::kDenied);
}

TEST(Rules, AnExemptionHoldsUntilItsLastDay) {
  const GuardrailRule rule{
      .name = "r",
      .when = {.gpus_above = 1},
      .exemptions = {{.when = {.names = {"chat"}}, .reason = "launch", .until = kToday}}};
  const auto on = [&](Date day) { return judge_workload(service(), {&rule, 1}, kUsd, day); };
  EXPECT_EQ(on(kToday).decision, Decision::kAllowed);
  EXPECT_EQ(on(kToday).hits[0].exempted_for, "launch (until 2026-11-01)");
  EXPECT_EQ(on(kToday + std::chrono::days(1)).decision, Decision::kDenied);
}

TEST(Rules, AmountsAreInOneCurrency) {
  std::vector<GuardrailRule> rules = {{.name = "a", .when = {.per_hour_above = dollars(1)}}};
  EXPECT_EQ(rules_currency(rules).value(), std::optional(kUsd));
  rules.push_back({.name = "b", .when = {.per_run_above = Money::from_units(1, kEur)}});
  EXPECT_FALSE(rules_currency(rules));
}

}  // namespace
}  // namespace pennyweight::guardrails
