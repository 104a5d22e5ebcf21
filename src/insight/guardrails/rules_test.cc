#include "insight/guardrails/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "allocation/policy/default_policy.h"

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
  return judge_workload(workload, {&rule, 1}, kUsd, {.today = kToday}).decision;
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
  Verdict verdict = judge_workload(service(), rules, kUsd, {.today = kToday});
  EXPECT_EQ(verdict.decision, Decision::kDenied);
  EXPECT_EQ(verdict.hits.size(), 3U);
  rules.insert(rules.begin() + 1, {.name = "lets", .effect = RuleEffect::kAllow, .when = any});
  verdict = judge_workload(service(), rules, kUsd, {.today = kToday});
  EXPECT_EQ(verdict.decision, Decision::kWarned);
  EXPECT_EQ(verdict.hits.size(), 2U);
  rules[1].mode = RuleMode::kAudit;  // an allow that is only tried lets nothing through
  EXPECT_EQ(judge_workload(service(), rules, kUsd, {.today = kToday}).decision, Decision::kDenied);
}

TEST(Rules, AnExemptionHoldsUntilItsLastDay) {
  const GuardrailRule rule{
      .name = "r",
      .when = {.gpus_above = 1},
      .exemptions = {{.when = {.names = {"chat"}}, .reason = "launch", .until = kToday}}};
  const auto on = [&](Date day) {
    return judge_workload(service(), {&rule, 1}, kUsd, {.today = day});
  };
  EXPECT_EQ(on(kToday).decision, Decision::kAllowed);
  EXPECT_EQ(on(kToday).hits[0].exempted_for, "launch (until 2026-11-01)");
  EXPECT_EQ(on(kToday + std::chrono::days(1)).decision, Decision::kDenied);
}

constexpr WeekHours kBusiness = {{true, true, true, true, true, false, false}, 8 * 60, 18 * 60};
constexpr WeekHours kSaturdayNight = {
    {false, false, false, false, false, true, false}, 22 * 60, 4 * 60};

TEST(Rules, HoursAreThoseOfTheWallClock) {
  struct TimeCase {
    const char* at;  // UTC
    const char* zone;
    int weekday;
    int minute;
  };
  const TimeCase cases[] = {
      {"2026-11-27T14:30:59Z", "UTC", 4, 14 * 60 + 30},
      {"2026-11-27T23:30:00Z", "Europe/Berlin", 5, 30},
      // Summer time begins at 02:00, and ends at 03:00, which comes twice.
      {"2026-03-29T00:59:00Z", "Europe/Berlin", 6, 1 * 60 + 59},
      {"2026-03-29T01:00:00Z", "Europe/Berlin", 6, 3 * 60},
      {"2026-03-29T16:00:00Z", "Europe/Berlin", 6, 18 * 60},
      {"2026-10-25T00:30:00Z", "Europe/Berlin", 6, 2 * 60 + 30},
      {"2026-10-25T01:30:00Z", "Europe/Berlin", 6, 2 * 60 + 30},
      {"2026-10-25T17:00:00Z", "Europe/Berlin", 6, 18 * 60},
      {"2026-10-25T22:59:00Z", "Europe/Berlin", 6, 23 * 60 + 59},
      {"2026-10-04T01:00:00Z", "Australia/Lord_Howe", 6, 12 * 60},  // half an hour is skipped
      {"2026-12-31T12:00:00Z", "Pacific/Kiritimati", 4, 2 * 60},    // it is Friday there
  };
  for (const TimeCase& one : cases) {
    const WallTime time = wall_time(*parse_instant(one.at), *TimeZone::parse(one.zone));
    EXPECT_EQ(time.weekday, one.weekday) << one.at << " " << one.zone;
    EXPECT_EQ(time.minute, one.minute) << one.at << " " << one.zone;
  }
  struct WindowCase {
    WeekHours window;
    WallTime at;
    bool is_in;
  };
  const WindowCase windows[] = {
      {kBusiness, {0, 8 * 60}, true},           {kBusiness, {0, 8 * 60 - 1}, false},
      {kBusiness, {4, 18 * 60 - 1}, true},      {kBusiness, {4, 18 * 60}, false},
      {kBusiness, {5, 12 * 60}, false},         {kSaturdayNight, {5, 22 * 60}, true},
      {kSaturdayNight, {6, 4 * 60 - 1}, true},  {kSaturdayNight, {6, 4 * 60}, false},
      {kSaturdayNight, {6, 22 * 60}, false},    {kSaturdayNight, {5, 60}, false},
      {kSaturdayNight, {5, 22 * 60 - 1}, false}};
  for (const WindowCase& one : windows) {
    EXPECT_EQ(is_within(one.window, one.at), one.is_in) << one.at.weekday << " " << one.at.minute;
  }
  const GuardrailRule in_hours{.name = "r", .when = {.hours = {kBusiness, kSaturdayNight}}};
  const GuardrailRule out{.name = "r", .when = {.hours_except = {kBusiness, kSaturdayNight}}};
  const auto hits = [](const GuardrailRule& rule, std::optional<WallTime> now) {
    return judge_workload(service(), {&rule, 1}, kUsd, {.today = kToday, .now = now}).hits.size();
  };
  EXPECT_EQ(hits(in_hours, WallTime{0, 600}), 1U);
  EXPECT_EQ(hits(out, WallTime{0, 600}), 0U);
  EXPECT_EQ(hits(in_hours, WallTime{5, 600}), 0U);
  EXPECT_EQ(hits(out, WallTime{5, 600}), 1U);
  EXPECT_EQ(hits(in_hours, {}), 1U) << "a time that is not known";
  EXPECT_EQ(hits(out, {}), 1U);
}

TEST(Rules, BudgetsOfTheWorkload) {
  struct BudgetCase {
    const char* name;
    WorkloadEstimate workload;
    BudgetUse budget;
    bool is_used_above_90;
    bool exceeds;
  };
  const auto budget = [](std::int64_t left, std::vector<BudgetScopeTerm> scope) {
    return BudgetUse{
        .name = "b", .scope = std::move(scope), .amount = dollars(1000), .left = dollars(left)};
  };
  const std::vector<BudgetScopeTerm> nlp = {{.dimension = "team", .values = {"nlp"}}};
  BudgetUse unknown = budget(0, nlp);
  unknown.left.reset();
  unknown.problem = "no rate";
  BudgetUse hours{.name = "h",
                  .scope = nlp,
                  .amount = Money::from_units(100, Currency("\x58XX")),
                  .left = Money::from_units(1, Currency("\x58XX"))};
  BudgetUse euros{.name = "e",
                  .scope = nlp,
                  .amount = Money::from_units(1000, kEur),
                  .left = Money::from_units(1000, kEur)};
  WorkloadEstimate unlabelled = run_of(1);
  unlabelled.workload.labels.clear();
  WorkloadEstimate of_slurm = unlabelled;
  of_slurm.workload.kind = "Slurm job";
  of_slurm.workload.name_space.clear();
  Policy policy = default_policy();
  policy.dimensions.push_back({.dimension = "valueless", .labels = {"v"}, .fallback = ""});
  WorkloadEstimate of_pods = run_of(1);
  of_pods.groups[0].group.pod_labels.emplace()["team"] = "cv";
  const BudgetCase cases[] = {
      {"enough left", run_of(1), budget(100, nlp), false, false},
      {"exactly so much", run_of(10), budget(800, nlp), false, false},
      {"more than is left", run_of(11), budget(800, nlp), false, true},
      {"above", run_of(1), budget(99, nlp), true, false},
      {"used up", run_of(1), budget(-5, nlp), true, true},
      {"of another team", run_of(11), budget(0, {{.dimension = "team", .values = {"cv"}}}), false,
       false},
      {"of all but another", run_of(1),
       budget(0, {{.dimension = "team", .values = {"cv"}, .negate = true}}), true, true},
      {"of everybody", run_of(1), budget(0, {}), true, true},
      {"of a namespace", run_of(1), budget(0, {{.dimension = "namespace", .values = {"ml"}}}), true,
       true},
      {"of the namespace's team", unlabelled, budget(0, {{.dimension = "team", .values = {"ml"}}}),
       true, true},
      {"of another namespace's", unlabelled, budget(0, nlp), false, false},
      {"of no value", run_of(1), budget(0, {{.dimension = "valueless", .values = {"x"}}}), false,
       false},
      {"of the pods' team", of_pods, budget(0, {{.dimension = "team", .values = {"cv"}}}), true,
       true},
      {"of the team of what is around them", of_pods, budget(0, nlp), false, false},
      {"of no client", run_of(1), budget(0, {{.dimension = "client", .values = {"(none)"}}}), true,
       true},
      {"of a node", run_of(1), budget(0, {{.dimension = "node", .values = {"n1"}}}), true, true},
      {"of a node, with enough left", run_of(1),
       budget(1000, {{.dimension = "node", .values = {"n1"}}}), false, false},
      {"of a node for another team", run_of(1),
       budget(0,
              {{.dimension = "node", .values = {"n1"}}, {.dimension = "team", .values = {"cv"}}}),
       false, false},
      {"of a job whose account is not known", of_slurm, budget(0, nlp), true, true},
      {"not measured", run_of(1), unknown, true, true},
      {"an endless run", run_of({}), budget(1000, nlp), false, true},
      {"not priced", unpriced_service(), budget(1000, nlp), false, true},
      {"a service by its month", service(), budget(1000, nlp), false, true},
      {"hours", run_of(100), hours, true, false},
      {"another currency", run_of(1), euros, false, true},
  };
  for (const BudgetCase& one : cases) {
    const RuleContext context{.today = kToday, .budgets = {&one.budget, 1}, .policy = &policy};
    const auto hits = [&](const RuleConditions& when) {
      const GuardrailRule rule{.name = "r", .when = when};
      return !judge_workload(one.workload, {&rule, 1}, kUsd, context).hits.empty();
    };
    EXPECT_EQ(hits({.budget_used_permille_above = 900}), one.is_used_above_90) << one.name;
    EXPECT_EQ(hits({.exceeds_budget = true}), one.exceeds) << one.name;
  }
  const RuleContext blind{.today = kToday, .budgets_problem = "serve has just started"};
  const GuardrailRule rule{.name = "r", .when = {.exceeds_budget = true}};
  EXPECT_EQ(judge_workload(run_of(1), {&rule, 1}, kUsd, blind).hits.size(), 1U);
}

// Whose a workload is is worked out once for all rules, and each of them finds what it would find
// alone.
TEST(Rules, TogetherFindWhatEachFindsAlone) {
  std::mt19937 random(20261128);
  const auto number = [&](std::uint32_t below) { return random() % below; };
  const auto team = [&] { return fmt::format("t{}", number(4)); };
  Policy policy = default_policy();
  policy.owners = {{.priority = 1,
                    .when = {{.key = "namespace", .values = {"ml"}}},
                    .set = {{"client", "acme"}}}};
  std::size_t hits = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<BudgetUse> budgets;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const bool is_of_team = number(3) > 0;
      budgets.push_back({.name = fmt::format("b{}", i),
                         .scope = {{.dimension = is_of_team ? "team" : "client",
                                    .values = {is_of_team ? team() : "acme"},
                                    .negate = number(4) == 0}},
                         .amount = dollars(1000),
                         .left = dollars(static_cast<std::int64_t>(number(1000)))});
    }
    WorkloadEstimate workload = number(2) == 0 ? run_of(number(12)) : service();
    workload.workload.name_space = number(2) == 0 ? "ml" : "";
    workload.workload.labels = {{"team", team()}};
    workload.groups.push_back(workload.groups[0]);
    if (number(2) == 0) workload.groups[1].group.pod_labels.emplace()["team"] = team();
    std::vector<GuardrailRule> rules;
    for (std::uint32_t i = 0; i < 4; ++i) {
      GuardrailRule rule{.name = fmt::format("r{}", i)};
      if (number(2) == 0) {
        rule.when.budget_used_permille_above = number(1000);
      } else {
        rule.when.exceeds_budget = number(2) == 0;
      }
      const RuleConditions exempt{.budget_used_permille_above = number(1000)};
      rule.exemptions = {{.when = exempt, .reason = "spent anyway", .until = kToday}};
      rules.push_back(rule);
    }
    const RuleContext context{.today = kToday, .budgets = budgets, .policy = &policy};
    std::string alone;
    for (const GuardrailRule& rule : rules) {
      for (const RuleHit& hit : judge_workload(workload, {&rule, 1}, kUsd, context).hits) {
        alone += fmt::format("{}, {}\n", hit_text(hit), hit.exempted_for);
      }
    }
    std::string together;
    for (const RuleHit& hit : judge_workload(workload, rules, kUsd, context).hits) {
      together += fmt::format("{}, {}\n", hit_text(hit), hit.exempted_for);
      ++hits;
    }
    ASSERT_EQ(together, alone) << "round " << round;
  }
  EXPECT_GT(hits, 300U);
}

// What nobody knows stops a workload, and lets none through.
TEST(Rules, WhatIsNotKnownAllowsAndExemptsNothing) {
  const BudgetUse unmeasured{.name = "b", .amount = dollars(1000), .problem = "no rate"};
  const BudgetUse of_somebody{.name = "n",
                              .scope = {{.dimension = "node", .values = {"n1"}}},
                              .amount = dollars(1000),
                              .left = dollars(0)};
  const RuleContext contexts[] = {
      {.today = kToday, .budgets_problem = "serve has just started"},
      {.today = kToday, .budgets = {&unmeasured, 1}},
      {.today = kToday, .budgets = {&of_somebody, 1}},
  };
  const struct {
    RuleConditions when;
    bool denies;  // as the condition of a rule that denies
  } cases[] = {
      {{.exceeds_budget = false}, false},         {{.exceeds_budget = true}, true},
      {{.budget_used_permille_above = 10}, true}, {{.hours = {kBusiness}}, true},
      {{.hours_except = {kBusiness}}, true},
  };
  for (const RuleContext& context : contexts) {
    for (const auto& one : cases) {
      const auto decide = [&](const std::vector<GuardrailRule>& rules) {
        return judge_workload(run_of(1), rules, kUsd, context).decision;
      };
      const GuardrailRule big{.name = "big", .when = {.gpus_above = 1}};
      EXPECT_EQ(decide({{.name = "lets", .effect = RuleEffect::kAllow, .when = one.when}, big}),
                Decision::kDenied);
      GuardrailRule exempted = big;
      exempted.exemptions = {{.when = one.when, .reason = "launch", .until = kToday}};
      EXPECT_EQ(decide({exempted}), Decision::kDenied);
      EXPECT_EQ(decide({{.name = "r", .when = one.when}}) == Decision::kDenied, one.denies);
    }
  }
}

TEST(Rules, AScheduleAmongServicesCostsItsRuns) {
  WorkloadEstimate whole = service();  // a service of 80 an hour, and as much by a schedule
  whole.groups.push_back(whole.groups[0]);
  whole.groups[1].group.replica_ms_max = 2 * 3'600'000;  // one hour of each replica
  whole.workload.parts = {{.kind = "Deployment", .name_space = "ml", .name = "a", .groups = {0}},
                          {.kind = "CronJob",
                           .name_space = "ml",
                           .name = "b",
                           .lifetime = manifests::Lifetime::kScheduled,
                           .schedule = "0 3 * * *",
                           .groups = {1}}};
  const auto of_the_schedule = [&](Money limit) {
    return applies(whole, {.kinds = {"CronJob"}, .per_month_above = limit});
  };
  EXPECT_TRUE(of_the_schedule(dollars(1'000'000))) << "nobody knows how often it runs";
  whole.runs_of_parts = {std::nullopt, 30};
  EXPECT_TRUE(of_the_schedule(dollars(2'399)));
  EXPECT_FALSE(of_the_schedule(dollars(2'400)));
  whole.groups[1].group.replica_ms_max.reset();
  EXPECT_TRUE(of_the_schedule(dollars(1'000'000))) << "nothing limits its time";
}

// A run of a component without replicas costs nothing, and one that its autoscaler extends the
// most.
TEST(Rules, ARunAmongServicesCostsItsReplicas) {
  WorkloadEstimate whole = service();
  whole.groups.push_back(run_of(2).groups[0]);
  whole.workload.parts = {{.kind = "Deployment", .name_space = "ml", .name = "a", .groups = {0}},
                          {.kind = "Job",
                           .name_space = "ml",
                           .name = "b",
                           .lifetime = manifests::Lifetime::kRun,
                           .groups = {1}}};
  const auto run_costs_above = [&](std::int64_t limit) {
    return applies(whole, {.kinds = {"Job"}, .per_run_above = dollars(limit)});
  };
  whole.groups[1].per_run_max.reset();
  EXPECT_TRUE(run_costs_above(159));
  EXPECT_FALSE(run_costs_above(160));
  whole.groups[1].per_hour_max = dollars(800);
  EXPECT_TRUE(run_costs_above(1599));
  EXPECT_FALSE(run_costs_above(1600));
  whole.groups[1].group.replicas = 0;
  EXPECT_FALSE(run_costs_above(0));
}

// The whole costs what its services cost, and a run among them once.
TEST(Rules, AWholeCostsItsComponents) {
  WorkloadEstimate whole = service();  // 58,400 a month
  whole.groups.push_back(run_of(2).groups[0]);
  whole.workload.parts = {{.kind = "Deployment", .name_space = "ml", .name = "a", .groups = {0}},
                          {.kind = "Job",
                           .name_space = "ml",
                           .name = "b",
                           .lifetime = manifests::Lifetime::kRun,
                           .groups = {1}}};
  const auto costs_above = [&](std::int64_t limit) {
    return applies(whole, {.per_month_above = dollars(limit)});
  };
  EXPECT_TRUE(costs_above(58'559));
  EXPECT_FALSE(costs_above(58'560));
  EXPECT_TRUE(applies(whole, {.kinds = {"Job"}, .per_run_above = dollars(159)}));
  EXPECT_FALSE(applies(whole, {.kinds = {"Job"}, .per_run_above = dollars(160)}));
  const BudgetUse budget{.name = "b", .amount = dollars(100'000), .left = dollars(58'560)};
  const auto exceeds = [&] {
    const GuardrailRule rule{.name = "r", .when = {.exceeds_budget = true}};
    const RuleContext context{.today = kToday, .budgets = {&budget, 1}};
    return !judge_workload(whole, {&rule, 1}, kUsd, context).hits.empty();
  };
  EXPECT_FALSE(exceeds());
  whole.groups[1] = run_of(1000).groups[0];  // a month of it is 58,400
  EXPECT_FALSE(costs_above(116'800));
  EXPECT_TRUE(costs_above(116'799));
  EXPECT_TRUE(exceeds());
  whole.groups[1] = run_of({}).groups[0];
  EXPECT_FALSE(costs_above(116'800)) << "nothing limits it but the month";
}

TEST(Rules, ImagesAreTheSameHoweverTheyAreWritten) {
  WorkloadEstimate workload = service();
  const auto hits = [&](const char* image, const char* pattern) {
    workload.groups[0].group.images = {image};
    return applies(workload, {.images = {pattern}});
  };
  for (const char* image : {"nginx:1", "library/nginx:1", "docker.io/nginx:1",
                            "index.docker.io/nginx:1", "docker.io/library/nginx:1"}) {
    for (const char* pattern : {"nginx*", "library/nginx:1", "docker.io/library/nginx:*"}) {
      EXPECT_TRUE(hits(image, pattern)) << image << " " << pattern;
    }
    EXPECT_FALSE(applies(workload, {.images_except = {"docker.io/library/*"}})) << image;
  }
  EXPECT_TRUE(hits("docker.io/ml/train", "ml/*"));
  EXPECT_FALSE(hits("quay.io/nginx", "nginx*"));
}

// One container that is exempt takes no other along.
TEST(Rules, AnExemptionByImageHoldsForEveryContainerThatItStops) {
  using manifests::PodRisk;
  using manifests::RiskKind;
  const RuleConditions big{.gpus_above = 1};
  const RuleConditions other_images{.images_except = {"docker.io/ours/*"}};
  const RuleConditions risky{.risks = {RiskKind::kRoot, RiskKind::kHostPath}};
  const RuleConditions trusted{.images = {"trusted/*"}};
  const RuleConditions not_bad{.images_except = {"docker.io/bad/*"}};
  const PodRisk of_trusted{RiskKind::kRoot, "the container 't' may run as root", false,
                           "trusted/a"};
  const PodRisk of_other{RiskKind::kRoot, "the container 'o' may run as root", false, "other/b"};
  const PodRisk of_pod{RiskKind::kHostPath, "it mounts '/' of the node", true, ""};
  const PodRisk not_asked{RiskKind::kSeccomp, "no profile", false, "other/b"};
  const struct {
    const char* name;
    RuleConditions rule;
    RuleConditions exempt;
    std::vector<std::string> images;
    std::vector<PodRisk> risks;
    bool is_exempt;
  } cases[] = {
      {"all are", big, trusted, {"trusted/a", "trusted/b"}, {}, true},
      {"one is, of a rule on GPUs", big, trusted, {"trusted/a", "other/b"}, {}, false},
      {"the same the other way round", big, trusted, {"other/b", "trusted/a"}, {}, false},
      {"no container", big, trusted, {}, {}, false},
      {"the one that is stopped", other_images, trusted, {"ours/x", "trusted/a"}, {}, true},
      {"not the one that is", other_images, trusted, {"trusted/a", "other/b"}, {}, false},
      {"the one with the risk", risky, trusted, {"trusted/a", "other/b"}, {of_trusted}, true},
      {"another with it too",
       risky,
       trusted,
       {"trusted/a", "other/b"},
       {of_other, of_trusted},
       false},
      {"a risk of the pod", risky, trusted, {"trusted/a", "other/b"}, {of_pod, of_trusted}, false},
      {"of a pod of such", risky, trusted, {"trusted/a"}, {of_pod, of_trusted}, true},
      {"a risk of no interest",
       risky,
       trusted,
       {"trusted/a", "other/b"},
       {of_trusted, not_asked},
       true},
      {"from one risk only",
       risky,
       {.risks = {RiskKind::kRoot}},
       {"trusted/a"},
       {of_pod, of_trusted},
       false},
      {"from the risk", risky, {.risks = {RiskKind::kRoot}}, {"trusted/a"}, {of_trusted}, true},
      {"none is bad", big, not_bad, {"trusted/a", "other/b"}, {}, true},
      {"one is bad", big, not_bad, {"trusted/a", "bad/b"}, {}, false},
      {"one states none", big, not_bad, {"trusted/a", ""}, {}, false},
  };
  for (const auto& one : cases) {
    WorkloadEstimate workload = service();
    workload.groups[0].group.images = one.images;
    workload.groups[0].group.risks = one.risks;
    const GuardrailRule rule{
        .name = "r",
        .when = one.rule,
        .exemptions = {{.when = one.exempt, .reason = "trusted", .until = kToday}}};
    const auto verdict = judge_workload(workload, {&rule, 1}, kUsd, {.today = kToday});
    ASSERT_EQ(verdict.hits.size(), 1U) << one.name;
    EXPECT_EQ(verdict.decision == Decision::kAllowed, one.is_exempt) << one.name;
  }
  // `allow` lets a workload through, too.
  for (const bool all : {true, false}) {
    WorkloadEstimate workload = service();
    workload.groups[0].group.images = {"trusted/a", all ? "trusted/b" : "other/b"};
    const GuardrailRule rules[] = {{.name = "lets", .effect = RuleEffect::kAllow, .when = trusted},
                                   {.name = "big", .when = big}};
    EXPECT_EQ(judge_workload(workload, rules, kUsd, {.today = kToday}).decision,
              all ? Decision::kAllowed : Decision::kDenied);
  }
}

// Nor does one group of replicas.
TEST(Rules, AnExemptionByMachineHoldsForEveryGroup) {
  const auto decide = [](const WorkloadEstimate& workload, const RuleConditions& exempt) {
    const GuardrailRule rule{.name = "r",
                             .when = {.gpus_above = 1},
                             .exemptions = {{.when = exempt, .reason = "old", .until = kToday}}};
    return judge_workload(workload, {&rule, 1}, kUsd, {.today = kToday}).decision;
  };
  const RuleConditions machines[] = {{.gpu_models = {"H100*"}},
                                     {.regions = {"us-*"}},
                                     {.regions_except = {"eu-*"}},
                                     {.providers = {"aws"}},
                                     {.spot = false}};
  for (const RuleConditions& exempt : machines) {
    WorkloadEstimate workload = service();
    EXPECT_EQ(decide(workload, exempt), Decision::kAllowed);
    workload.groups.push_back(workload.groups[0]);
    EXPECT_EQ(decide(workload, exempt), Decision::kAllowed);
    PricedMachine& machine = *workload.groups[1].machine;
    machine.gpu_model = "A100-SXM4-80GB";
    machine.region = "eu-west-1";
    machine.provider = "gcp";
    machine.option = PurchaseOption::kSpot;
    EXPECT_EQ(decide(workload, exempt), Decision::kDenied);
    workload.groups[1].machine.reset();
    workload.groups[1].group.gpus.clear();  // priced without a machine: anywhere
    const bool asks_where = exempt.gpu_models.empty() && !exempt.spot;
    EXPECT_EQ(decide(workload, exempt), asks_where ? Decision::kDenied : Decision::kAllowed);
    workload.groups[1].problem = "no model";
    EXPECT_EQ(decide(workload, exempt), Decision::kDenied);
  }
}

// What keeps pods apart: runtime classes, storage classes, network policies.
WorkloadEstimate isolated(manifests::PodIsolation pods) {
  WorkloadEstimate workload = service();
  workload.groups[0].group.isolation = std::move(pods);
  workload.groups[0].group.pod_labels.emplace()["app"] = "chat";
  return workload;
}

Decision judge_beside(const WorkloadEstimate& workload, const RuleConditions& when,
                      const manifests::ClusterObjects& cluster,
                      RuleEffect effect = RuleEffect::kDeny) {
  const GuardrailRule rules[] = {{.name = "r", .effect = effect, .when = when},
                                 {.name = "all", .when = {.kinds = {"*"}}}};
  // An allow has something to let through.
  const std::size_t count = effect == RuleEffect::kAllow ? 2 : 1;
  return judge_workload(workload, {rules, count}, kUsd, {.today = kToday, .cluster = &cluster})
      .decision;
}

TEST(Rules, WhatKeepsPodsApart) {
  manifests::ClusterObjects cluster;
  cluster.storage_classes = {{"ml/data", "encrypted-ssd"}, {"ml/old", "gp2"}, {"ml/none", ""}};
  cluster.network_policies = {
      {.name_space = "ml",
       .name = "chat",
       .pods = {{.key = "app", .is = manifests::SelectorTerm::Operator::kIn, .values = {"chat"}}},
       .covers = {true, false}}};
  using manifests::TrafficDirection;
  const RuleConditions runtime = {.runtime_classes_except = {"kata-*", "gvisor"}};
  const RuleConditions storage = {.storage_classes_except = {"encrypted-*"}};
  const RuleConditions ingress = {.unlimited_traffic = {TrafficDirection::kIngress}};
  const RuleConditions both = {
      .unlimited_traffic = {TrafficDirection::kIngress, TrafficDirection::kEgress}};
  const auto of_volume = [](manifests::PodVolume volume) {
    return isolated(
        {.volumes = {{.name = "a", .storage_class = "encrypted-a"}, std::move(volume)}});
  };
  struct IsolationCase {
    const char* name;
    const RuleConditions& when;
    WorkloadEstimate workload;
    bool stops;
    bool lets;  // with the effect allow
  };
  WorkloadEstimate two = isolated({.runtime_class = "kata-qemu"});
  two.groups.push_back(two.groups[0]);
  two.groups[1].group.isolation->runtime_class = "runc";
  WorkloadEstimate elsewhere = isolated({});
  elsewhere.workload.name_space = "cv";
  WorkloadEstimate unselected = isolated({});
  unselected.groups[0].group.pod_labels.emplace()["app"] = "other";
  const IsolationCase cases[] = {
      {"of the class", runtime, isolated({.runtime_class = "kata-qemu"}), false, false},
      {"of another", runtime, isolated({.runtime_class = "runc"}), true, true},
      {"not stated", runtime, isolated({}), true, false},
      {"one group of another", runtime, two, true, false},
      {"no pods", runtime, service(), false, false},
      {"no volumes", storage, isolated({}), false, false},
      {"no pods, no volumes", storage, service(), false, false},
      {"encrypted", storage, of_volume({.name = "b", .claim = "data"}), false, false},
      {"a claim of another", storage, of_volume({.name = "b", .claim = "old"}), true, false},
      {"a claim without", storage, of_volume({.name = "b", .claim = "none"}), true, false},
      {"a claim of nobody", storage, of_volume({.name = "b", .claim = "new"}), true, false},
      {"another class", storage, isolated({.volumes = {{.name = "b", .storage_class = "gp2"}}}),
       true, true},
      {"not stated", storage, of_volume({.name = "b"}), true, false},
      {"of the node", storage, of_volume({.name = "b", .source = "hostPath"}), true, false},
      {"in part", storage, isolated({.is_partial = true}), true, false},
      {"limited", ingress, isolated({}), false, false},
      {"one way only", both, isolated({}), true, false},
      {"on the host", ingress, isolated({.is_on_host_network = true}), true, false},
      {"not selected", ingress, unselected, true, false},
      {"elsewhere", ingress, elsewhere, true, false},
      {"no pods, no traffic", both, service(), false, false},
  };
  for (const IsolationCase& one : cases) {
    EXPECT_EQ(judge_beside(one.workload, one.when, cluster) == Decision::kDenied, one.stops)
        << one.name;
    EXPECT_EQ(
        judge_beside(one.workload, one.when, cluster, RuleEffect::kAllow) == Decision::kAllowed,
        one.lets)
        << one.name;
  }
  // Nothing is known of a cluster that was not listed.
  EXPECT_TRUE(applies(isolated({}), ingress));
  EXPECT_TRUE(applies(of_volume({.name = "b", .claim = "data"}), storage));
}

TEST(Rules, AnAnnotationOfAllComponentsIsNotMissing) {
  WorkloadEstimate whole = service();
  whole.workload.parts = {{.kind = "Job", .name_space = "ml", .name = "a"},
                          {.kind = "Job", .name_space = "ml", .name = "b"}};
  whole.workload.parts[0].annotations = {{"scan", "1"}};
  EXPECT_TRUE(applies(whole, {.annotations_missing = {"scan"}}));
  whole.workload.parts[1].annotations = {{"scan", "2"}};
  EXPECT_FALSE(applies(whole, {.annotations_missing = {"scan"}}));
  WorkloadEstimate job = run_of(1);
  EXPECT_TRUE(applies(job, {.annotations_missing = {"scan"}}));
  job.workload.kind = "Slurm job";
  EXPECT_FALSE(applies(job, {.annotations_missing = {"scan"}}));
}

// An update is looked at wherever some condition may look, also one of an exemption.
TEST(Rules, ExemptionsLookAtPodsToo) {
  const GuardrailRule rule{.name = "r",
                           .when = {.gpus_above = 1},
                           .exemptions = {{.when = {.annotations = {{"scan", "ok"}},
                                                    .risks = {manifests::RiskKind::kRoot},
                                                    .images_except = {"x"}},
                                           .reason = "launch",
                                           .until = kToday}}};
  const LooksAtPods looks = looks_at_pods({&rule, 1});
  EXPECT_TRUE(looks.images);
  EXPECT_EQ(looks.annotations, std::vector<std::string>{"scan"});
  EXPECT_EQ(looks.risks.size(), 1U);
  EXPECT_FALSE(looks.isolation);
  for (const RuleConditions& when :
       {RuleConditions{.runtime_classes_except = {"kata"}},
        RuleConditions{.storage_classes_except = {"fast"}},
        RuleConditions{.unlimited_traffic = {manifests::TrafficDirection::kEgress}}}) {
    const GuardrailRule isolates{.name = "i", .when = when};
    EXPECT_TRUE(looks_at_pods({&isolates, 1}).isolation);
  }
}

TEST(Rules, AmountsAreInOneCurrency) {
  std::vector<GuardrailRule> rules = {{.name = "a", .when = {.per_hour_above = dollars(1)}}};
  EXPECT_EQ(rules_currency(rules).value(), std::optional(kUsd));
  rules.push_back({.name = "b", .when = {.per_run_above = Money::from_units(1, kEur)}});
  EXPECT_FALSE(rules_currency(rules));
}

}  // namespace
}  // namespace pennyweight::guardrails
