#include "insight/guardrails/usage_limit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/default_policy.h"
#include "insight/guardrails/kept_uses.h"
#include "insight/guardrails/limit_export.h"
#include "insight/guardrails/native_rules.h"

namespace pennyweight::guardrails {
namespace {

using GpuNameMap = std::map<std::string, std::string, std::less<>>;

Money limit_dollars(std::int64_t units) { return Money::from_units(units, kUsd); }
Money limit_hours(std::int64_t units) { return Money::from_units(units, Currency("GPH")); }

LimitUse spent_use(std::int64_t spent) {
  return {.limit = {.name = "nlp", .per_month = limit_dollars(1000)},
          .spent = limit_dollars(spent)};
}

LimitUse quota_use() {
  return {.limit = {.name = "nlp",
                    .gpus = {{.model = "H100-SXM5-80GB", .count = 16}},
                    .namespaces = {"nlp"},
                    .slurm_account = "nlp"}};
}

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(UsageLimit, ALimitIsOfALabelOrANamespace) {
  manifests::WorkloadRequest workload;
  workload.name_space = "cv";
  workload.labels = {{"team", "nlp"}};
  EXPECT_TRUE(is_limited_by({.name = "nlp"}, workload, nullptr));
  EXPECT_FALSE(is_limited_by({.name = "cv"}, workload, nullptr));
  EXPECT_TRUE(
      is_limited_by({.name = "x", .dimension = "namespace", .value = "cv"}, workload, nullptr));
  EXPECT_FALSE(is_limited_by({.name = "nlp", .dimension = "owner"}, workload, nullptr));
}

// The ledger takes the team from elsewhere where there is no label, and what is used with it.
TEST(UsageLimit, ALimitIsOfThePolicysDimensions) {
  Policy policy = default_policy();  // team: team, account, namespace, qos
  manifests::WorkloadRequest workload;
  workload.kind = "Job";
  workload.name_space = "cv";
  EXPECT_TRUE(is_limited_by({.name = "cv"}, workload, &policy));
  workload.labels = {{"team", "nlp"}};
  EXPECT_FALSE(is_limited_by({.name = "cv"}, workload, &policy));
  EXPECT_TRUE(is_limited_by({.name = "nlp"}, workload, &policy));
  policy.owners = {{.when = {{.key = "namespace", .values = {"cv"}}}, .set = {{"team", "vision"}}}};
  EXPECT_FALSE(is_limited_by({.name = "nlp"}, workload, &policy));
  EXPECT_TRUE(is_limited_by({.name = "vision"}, workload, &policy));
  // Which cluster it will run on is not known: by the label.
  policy.owners[0].when[0] = {.key = "cluster", .values = {"a"}};
  EXPECT_TRUE(is_limited_by({.name = "nlp"}, workload, &policy));
  EXPECT_FALSE(is_limited_by({.name = "vision"}, workload, &policy));
  // Nor is its service account, whatever a label of that name says.
  policy.owners[0].when[0] = {.key = "service_account", .values = {"robot"}};
  workload.labels["service_account"] = "robot";
  EXPECT_TRUE(is_limited_by({.name = "nlp"}, workload, &policy));
  EXPECT_FALSE(is_limited_by({.name = "vision"}, workload, &policy));
  policy = Policy();
  EXPECT_TRUE(is_limited_by({.name = "nlp"}, workload, &policy)) << "no dimension is called so";
}

// The ledger charges by the labels of the pods. Those of the object around them hide nothing.
TEST(UsageLimit, TheLabelsOfThePodsCount) {
  const Policy policy = default_policy();
  const auto effects = [&](const WorkloadEstimate& work, const char* name) {
    std::string text;
    LimitUse use = spent_use(1000);
    use.limit.name = name;
    for (const RuleHit& hit : limit_hits(work, std::vector{use}, kUsd, 3'600'000, &policy)) {
      text += hit.effect == RuleEffect::kDeny ? "denied" : "warned: " + hit.because;
    }
    return text;
  };
  WorkloadEstimate job;
  job.workload.kind = "Job";
  job.workload.name_space = "ml";
  job.workload.labels = {{"team", "decoy"}};
  job.groups.resize(1);
  job.groups[0].group.pod_labels.emplace()["team"] = "nlp";
  EXPECT_EQ(effects(job, "nlp"), "denied");
  EXPECT_EQ(effects(job, "decoy"), "");
  job.groups[0].group.pod_labels->clear();  // the namespace decides
  EXPECT_EQ(effects(job, "ml"), "denied");
  EXPECT_EQ(effects(job, "decoy"), "");
  job.groups[0].group.pod_labels.reset();  // it has no template of its own
  EXPECT_EQ(effects(job, "decoy"), "denied");
  // Of a job of Slurm without an account nobody knows the team before it runs.
  WorkloadEstimate slurm;
  slurm.workload.kind = "Slurm job";
  slurm.workload.user = "ana";
  slurm.groups.resize(1);
  EXPECT_TRUE(has_text(effects(slurm, "nlp"),
                       "warned: whether it counts is not known, since its team is not"));
  LimitUse of_user = spent_use(1000);
  of_user.limit = {.name = "ana", .dimension = "user", .per_month = limit_dollars(1000)};
  const auto hits = limit_hits(slurm, std::vector{of_user}, kUsd, 3'600'000, &policy);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].effect, RuleEffect::kDeny);
}

TEST(UsageLimit, AHardLimitThatIsUsedUpDeniesAndASoftOneWarns) {
  WorkloadEstimate workload;
  workload.workload.labels = {{"team", "nlp"}};
  workload.workload.lifetime = manifests::Lifetime::kRun;
  std::vector<LimitUse> uses = {spent_use(1000)};
  auto hits = limit_hits(workload, uses, kUsd, 3'600'000, nullptr);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].effect, RuleEffect::kDeny);
  uses[0].limit.is_hard = false;
  hits = limit_hits(workload, uses, kUsd, 3'600'000, nullptr);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].effect, RuleEffect::kWarn);
  workload.workload.labels = {{"team", "cv"}};
  EXPECT_TRUE(limit_hits(workload, uses, kUsd, 3'600'000, nullptr).empty());
}

// Of 1,000 dollars 400 are spent, and half of the month is left: a service costs half of its month,
// a run among services its run, a schedule its month.
TEST(UsageLimit, ComponentsCostWhatTheyCost) {
  WorkloadEstimate whole;
  whole.groups.resize(3);
  whole.groups[0].per_month = limit_dollars(730);
  whole.groups[1].gpu = limit_dollars(50);
  whole.groups[1].per_run_max = limit_dollars(100);
  whole.groups[2].per_month = limit_dollars(135);
  using manifests::Lifetime;
  const Lifetime lifetimes[] = {Lifetime::kService, Lifetime::kRun, Lifetime::kScheduled};
  for (std::size_t i = 0; i < whole.groups.size(); ++i) {
    whole.workload.parts.push_back({.kind = "x",
                                    .name_space = "ml",
                                    .name = "c",
                                    .labels = {{"team", "nlp"}},
                                    .lifetime = lifetimes[i],
                                    .groups = {i}});
  }
  const auto denied = [&] {
    return !limit_hits(whole, std::vector{spent_use(400)}, kUsd, 365 * 3'600'000ULL, nullptr)
                .empty();
  };
  EXPECT_FALSE(denied());  // 365 + 100 + 135 of 600
  whole.workload.labels = {{"team", "nlp"}};
  EXPECT_FALSE(denied()) << "and as a whole";
  whole.groups[2].per_month = limit_dollars(136);
  EXPECT_TRUE(denied());
  whole.groups[2].per_month = limit_dollars(0);
  whole.groups[1].per_run_max.reset();
  EXPECT_TRUE(denied()) << "an endless run costs what is left of the month";
}

TEST(UsageLimit, WhatIsNotMeasuredDenies) {
  WorkloadEstimate workload;
  workload.workload.labels = {{"team", "nlp"}};
  LimitUse use = spent_use(0);
  use.spent.reset();
  use.problem = "the ledger is busy";
  const auto hits = limit_hits(workload, std::vector{use}, kUsd, 3'600'000, nullptr);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_TRUE(has_text(hits[0].because, "the ledger is busy"));
}

TEST(KeptUses, WhatWasMeasuredLatelyStandsInWithinTheMonth) {
  using std::chrono::minutes;
  const Instant month = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
  const Instant now = month + std::chrono::days(3);
  KeptUses kept(minutes(15));
  std::vector<LimitUse> uses = {spent_use(400)};
  kept.fill(uses, now, month);
  LimitUse failed = spent_use(0);
  failed.spent.reset();
  failed.problem = "busy";
  const auto filled = [&](Instant at, Instant of) {
    std::vector<LimitUse> later = {failed};
    kept.fill(later, at, of);
    EXPECT_EQ(later[0].problem, "busy");
    return later[0].spent;
  };
  EXPECT_EQ(filled(now + minutes(15), month), limit_dollars(400));
  // Standing in is not measuring: its age goes on.
  EXPECT_EQ(filled(now + minutes(16), month), std::nullopt);
  EXPECT_EQ(filled(now - minutes(1), month), std::nullopt);
  EXPECT_EQ(filled(now + minutes(5), month + std::chrono::days(30)), std::nullopt);
  EXPECT_EQ(filled(now + minutes(5), month), std::nullopt);
}

TEST(KeptBudgets, WhatWasMeasuredLatelyStandsInOnTheSameDay) {
  using std::chrono::minutes;
  const Date day = std::chrono::sys_days(std::chrono::year(2026) / 11 / 3);
  const Instant now = day + std::chrono::hours(9);
  KeptBudgets kept(minutes(15));
  const BudgetUse measured{
      .name = "nlp", .amount = limit_dollars(1000), .left = limit_dollars(400)};
  std::vector<BudgetUse> uses = {measured};
  kept.fill(uses, now, day);
  BudgetUse failed = measured;
  failed.left.reset();
  failed.problem = "busy";
  const auto filled = [&](const BudgetUse& use, Instant at, Date on) {
    std::vector<BudgetUse> later = {use};
    kept.fill(later, at, on);
    return later[0].left;
  };
  // Without a list of budgets, those of before stand as long.
  const auto recalled = [&](Instant at, Date on) { return kept.recall("gone", at, on); };
  ASSERT_TRUE(recalled(now + minutes(15), day));
  ASSERT_EQ(recalled(now + minutes(15), day)->size(), 1U);
  EXPECT_EQ(recalled(now + minutes(15), day)->front().left, limit_dollars(400));
  EXPECT_EQ(recalled(now + minutes(15), day)->front().problem, "gone");
  EXPECT_FALSE(recalled(now + minutes(16), day));
  EXPECT_FALSE(recalled(now - minutes(1), day));
  EXPECT_FALSE(recalled(now, day + std::chrono::days(1)));
  EXPECT_FALSE(KeptBudgets(minutes(15)).recall("gone", now, day));
  EXPECT_EQ(filled(failed, now + minutes(15), day), limit_dollars(400));
  // What was listed then is known, and what was measured before is too old.
  EXPECT_EQ(recalled(now + minutes(20), day)->front().left, std::nullopt);
  EXPECT_EQ(filled(failed, now + minutes(16), day), std::nullopt);
  EXPECT_EQ(filled(failed, now - minutes(1), day), std::nullopt);
  BudgetUse other = failed;
  other.amount = limit_dollars(900);
  EXPECT_EQ(filled(other, now, day), std::nullopt);
  other = failed;
  other.scope = {{.dimension = "team", .values = {"cv"}}};
  EXPECT_EQ(filled(other, now, day), std::nullopt);
  other = failed;
  other.name = "cv";
  EXPECT_EQ(filled(other, now, day), std::nullopt);
  EXPECT_EQ(filled(failed, now, day + std::chrono::days(1)), std::nullopt);
  EXPECT_EQ(filled(failed, now, day), std::nullopt);
}

TEST(LimitExport, AGresTypeIsOnlyWhatAShellTakesAsItIs) {
  const std::vector<LimitUse> uses = {quota_use()};
  for (const std::string bad :
       {"h100;reboot", "$(id)", "`id`", "h100&", "h100\nid", "H100", "h*"}) {
    const auto exported =
        export_limits(uses, LimitSystem::kSlurm, GpuNameMap{{bad, "H100-SXM5-80GB"}});
    EXPECT_FALSE(has_text(exported.text, "gres/gpu:")) << bad;
    EXPECT_TRUE(has_text(exported.text, "gres/gpu=16")) << bad;
  }
  const auto exported =
      export_limits(uses, LimitSystem::kSlurm, GpuNameMap{{"h100_80-gb.sxm", "H100-SXM5-80GB"}});
  EXPECT_TRUE(has_text(exported.text, "gres/gpu:h100_80-gb.sxm=16"));
}

TEST(LimitExport, NamesStayNames) {
  LimitUse use = quota_use();
  use.limit.name = "2024";
  use.limit.namespaces = {"null"};
  use.limit.cohort = "no";
  const std::string text = export_limits(std::vector{use}, LimitSystem::kKueue,
                                         GpuNameMap{{"NVIDIA-H100}, x: {y", "H100-SXM5-80GB"}})
                               .text;
  EXPECT_TRUE(has_text(text, "  name: \"2024\"\n  namespace: \"null\"\n")) << text;
  EXPECT_TRUE(has_text(text, "  cohort: \"no\"\n")) << text;
  EXPECT_TRUE(has_text(text, "values: [\"null\"]")) << text;
  EXPECT_TRUE(has_text(text, "{nvidia.com/gpu.product: \"NVIDIA-H100}, x: {y\"}")) << text;
}

TEST(LimitExport, AQueueIsHeldWhereItsLimitIsNotMeasuredAndCoversTheRestOfAPod) {
  LimitUse use = quota_use();
  use.limit.per_month = limit_dollars(1000);
  use.problem = "the ledger is busy";
  const auto unknown = export_limits(std::vector{use}, LimitSystem::kKueue, {});
  EXPECT_TRUE(has_text(unknown.text, "stopPolicy: Hold"));
  EXPECT_EQ(unknown.notes.size(), 1U);
  EXPECT_TRUE(has_text(unknown.text, "coveredResources: [cpu, memory, ephemeral-storage, pods]"));
  use.spent = limit_dollars(1);
  EXPECT_TRUE(
      has_text(export_limits(std::vector{use}, LimitSystem::kKueue, {}).text, "stopPolicy: None"));
}

TEST(LimitExport, SlurmsOwnCountOfMinutesIsExplained) {
  LimitUse use = quota_use();
  use.limit.gpu_hours = limit_hours(100);
  const auto exported =
      export_limits(std::vector{use}, LimitSystem::kSlurm, GpuNameMap{{"h100", "H100-SXM5-80GB"}});
  EXPECT_TRUE(has_text(exported.text, "GrpTRESMins=gres/gpu=6000"));
  EXPECT_TRUE(has_text(exported.text, "# nlp: GrpTRESMins kills jobs"));
  EXPECT_EQ(exported.notes.size(), 2U);
}

TEST(UsageLimit, GpuHoursAreOfWorkWithGpus) {
  WorkloadEstimate workload;
  workload.workload.labels = {{"team", "nlp"}};
  workload.groups.resize(1);
  const std::vector<LimitUse> uses = {
      {.limit = {.name = "nlp", .gpu_hours = limit_hours(10)}, .gpu_hours = limit_hours(10)}};
  EXPECT_TRUE(limit_hits(workload, uses, kUsd, 3'600'000, nullptr).empty());
  workload.groups[0].group.gpus = {manifests::whole_gpus(1)};
  EXPECT_EQ(limit_hits(workload, uses, kUsd, 3'600'000, nullptr).size(), 1U);
}

TEST(LimitDrift, QuantitiesAreComparedByWhatTheyMean) {
  const QuotaSetting thousand{"Queue a", "capability.nvidia.com/gpu", "1000"};
  QuotaSetting short_form = thousand;
  short_form.value = "1k";
  EXPECT_TRUE(find_drift(std::vector{thousand}, std::vector{short_form}).empty());
  short_form.value = "2k";
  EXPECT_EQ(find_drift(std::vector{thousand}, std::vector{short_form}).size(), 1U);
}

TEST(LimitDrift, AnAccountIsLimitedOnEachCluster) {
  const std::vector<QuotaSetting> wanted = {{"account nlp", "", "present"},
                                            {"account nlp", "GrpTRES gres/gpu", "4"}};
  const auto real = read_quota_settings(
      "Cluster|Account|User|GrpTRES|GrpTRESMins\na|nlp||gres/gpu=4|\nb|nlp||gres/gpu=9|\n", "f");
  ASSERT_TRUE(real) << real.error().message;
  const auto drifts = find_drift(wanted, *real);
  ASSERT_EQ(drifts.size(), 1U);
  EXPECT_EQ(drifts[0].object, "account nlp on cluster b");
  EXPECT_FALSE(
      read_quota_settings("Account|User|GrpTRES|GrpTRESMins\nnlp|||\nnlp|||\n", "f").has_value());
}

TEST(LimitDrift, JsonInOneLineIsNoTableOfSlurm) {
  const std::string quota =
      R"({"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "nlp", )"
      R"("annotations": {"account|name": "a|b"}}, )"
      R"("spec": {"hard": {"requests.nvidia.com/gpu": "4"}}})";
  const std::string list = R"({"kind": "List", "items": [)" + quota + "]}";
  for (const std::string& text : {quota, quota + "\n", " " + list, "\n" + list}) {
    const auto real = read_quota_settings(text, "real.json");
    ASSERT_TRUE(real) << real.error().message;
    ASSERT_EQ(real->size(), 2U) << text;
    EXPECT_EQ((*real)[0].object, "ResourceQuota nlp/q");
    EXPECT_EQ((*real)[1].value, "4");
  }
  EXPECT_FALSE(read_quota_settings("Account|User\nnlp|\n", "f").has_value());
}

TEST(LimitDrift, AQosIsLimitedAndOthersAreLeftAlone) {
  LimitUse use = quota_use();
  use.limit.slurm_qos = "nlp-gpu";
  const LimitExport exported =
      export_limits(std::span(&use, 1), LimitSystem::kSlurm, {{"h100", "H100-SXM5-80GB"}});
  EXPECT_TRUE(
      has_text(exported.text, "modify qos where name=nlp-gpu set GrpTRES=gres/gpu:h100=16"));
  EXPECT_TRUE(has_text(exported.text, "modify account where name=nlp set qos+=nlp-gpu\n"));
  const auto wanted = wanted_settings(exported, LimitSystem::kSlurm);
  ASSERT_TRUE(wanted);
  const auto drifts_of = [&](const std::string& limits) {
    const auto real = read_quota_settings(
        "Account|User|GrpTRES|GrpTRESMins\nnlp||gres/gpu=16,gres/gpu:h100=16|\n", "a");
    const auto qos = read_quota_settings(
        "Name|GrpTRES|GrpTRESMins\nnormal|gres/gpu=1|\nnlp-gpu|" + limits + "|\n", "q");
    EXPECT_TRUE(real && qos);
    std::vector<QuotaSetting> all = *real;
    all.insert(all.end(), qos->begin(), qos->end());
    return find_drift(*wanted, all);
  };
  EXPECT_TRUE(drifts_of("gres/gpu=16,gres/gpu:h100=16").empty());
  const auto drifts = drifts_of("gres/gpu=16,gres/gpu:h100=4,gres/gpu:a100=2");
  ASSERT_EQ(drifts.size(), 2U);
  EXPECT_EQ(drifts[0].object, "QOS nlp-gpu");
  EXPECT_EQ(drifts[0].real, "4");
  EXPECT_EQ(drifts[1].wanted, "");  // of a model that the limit had once
}

TEST(NativeRules, EachRuleHasANameOfItsOwn) {
  std::vector<GuardrailRule> rules(5);
  rules[0].name = "no-h100";
  rules[1].name = "No H100";
  rules[2].name = "\xe7\xa6\x81\xe6\xad\xa2";
  rules[3].name = std::string(100, 'a');
  rules[4].name = "noh100";
  for (GuardrailRule& rule : rules) rule.when.kinds = {"*"};
  for (const auto system : {NativeSystem::kValidatingAdmissionPolicy, NativeSystem::kKyverno,
                            NativeSystem::kGatekeeper}) {
    const std::string text = native_policies(rules, {}, system);
    EXPECT_TRUE(has_text(text, "  name: pennyweight-no-h100\n")) << text;
    EXPECT_TRUE(has_text(text, "  name: pennyweight-no-h100-")) << text;
    EXPECT_TRUE(has_text(text, "  name: pennyweight-noh100-")) << text;
    const bool asks_at_create = has_text(text, "request.operation != \\\"CREATE\\\"");
    EXPECT_EQ(asks_at_create, system == NativeSystem::kGatekeeper) << text;
  }
}

}  // namespace
}  // namespace pennyweight::guardrails
