#include "insight/guardrails/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pennyweight::guardrails {
namespace {

constexpr Date kAdmissionDay = std::chrono::sys_days(std::chrono::year(2026) / 11 / 1);
constexpr std::string_view kAdmissionPrices =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_"
    "gib\n"
    "test,,box,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000\n"
    "test,,box,spot,2026-01-01,10,USD,H100-SXM5-80GB,8,100,1000\n"
    "test,,(cpu),on_demand,2026-01-01,0.04,USD,,,,\n"
    "test,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,\n";

std::vector<GuardrailRule> admission_rules() {
  return {{.name = "add team",
           .effect = RuleEffect::kMutate,
           .when = {.namespaces = {"nlp"}},
           .change = {.labels = {{"team", "nlp"}},
                      .run_ms = 7'200'000,
                      .priority_class = "low",
                      .tolerations = {"spot"}}},
          {.name = "owner",
           .when = {.labels_missing = {"team"}},
           .reason = "who pays must be known",
           .way_out = "add the label team"},
          {.name = "big", .effect = RuleEffect::kRequireApproval, .when = {.gpus_above = 8}},
          {.name = "dear",
           .mode = RuleMode::kWarn,
           .when = {.per_hour_above = Money::from_units(20, kUsd)}},
          {.name = "watch", .mode = RuleMode::kAudit, .when = {.kinds = {"*"}}}};
}

// Knows one token; what it is asked for is kept.
class TestDesk : public ApprovalDesk {
 public:
  Result<std::string> redeem(std::string_view token, const ApprovalClaim& claim,
                             const std::string& by, bool only_looks) override {
    if (token != "right") return fail(ErrorCode::kBadValue, "this is no token");
    claims.push_back(claim);
    users.push_back(by + (only_looks ? " looks" : ""));
    return "ap-1";
  }
  Result<std::string> file(ApprovalRequest request) override {
    if (is_full) return fail(ErrorCode::kLimit, "too many wait");
    filed.push_back(std::move(request));
    return "ap-2";
  }

  std::vector<ApprovalClaim> claims;
  std::vector<std::string> users;
  std::vector<ApprovalRequest> filed;
  bool is_full = false;
};

AdmissionAnswer ask_webhook(const std::string& asked, AdmissionEndpoint endpoint = {},
                            bool admits_unknown = false, ApprovalDesk* desk = nullptr,
                            const std::vector<GuardrailRule>& rules = admission_rules()) {
  static const auto catalog = Catalog::built_in().overridden_by(kAdmissionPrices, "prices.csv");
  EXPECT_TRUE(catalog) << catalog.error().message;
  const AdmissionPolicy policy{.rules = rules,
                               .catalog = *catalog,
                               .pricing = {.provider = "test",
                                           .gpu_models = {{"", "H100-SXM5-80GB"}},
                                           .at = parse_instant("2026-11-01").value()},
                               .exempt_namespaces = {"kube-system"},
                               .controllers = {"system:serviceaccount:kube-system:*-controller"},
                               .admits_unknown = admits_unknown,
                               .approvals = desk};
  const auto answer = answer_review(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)" + asked + "}",
      endpoint, policy, kAdmissionDay);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *answer : AdmissionAnswer();
}

std::string pod_spec(int gpus) {
  return fmt::format(
      R"({{"restartPolicy":"Never","containers":[{{"name":"c",)"
      R"("resources":{{"limits":{{"nvidia.com/gpu":"{}","cpu":"1","memory":"1Gi"}}}}}}]}})",
      gpus);
}

std::string pod(int gpus, const std::string& labels = R"({"team":"nlp"})",
                const std::string& more = "") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p"{},"labels":{}}},"spec":{}}})",
      more, labels, pod_spec(gpus));
}

std::string job(int gpus, int parallelism, const std::string& metadata = R"({"name":"j"})") {
  return fmt::format(R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{},)"
                     R"("spec":{{"parallelism":{},"template":{{)"
                     R"("metadata":{{"labels":{{"team":"nlp"}}}},"spec":{}}}}}}})",
                     metadata, parallelism, pod_spec(gpus));
}

std::string request(const std::string& object, const std::string& more = "",
                    const std::string& operation = "CREATE", const std::string& user = "ana",
                    const std::string& name_space = "ml") {
  return fmt::format(
      R"({{"uid":"u-1","kind":{{"kind":"X"}},"operation":"{}",)"
      R"("namespace":"{}","name":"n","userInfo":{{"username":"{}"}},"object":{}{}}})",
      operation, name_space, user, object, more);
}

std::string old_object(const std::string& object) { return ",\"oldObject\":" + object; }

TEST(Admission, JudgesWhatIsCreated) {
  struct Case {
    const char* name;
    std::string request;
    bool is_allowed;
    AdmissionOutcome outcome;
    const char* says;
  };
  const std::string owner = R"(,"ownerReferences":[{"kind":"Job","name":"j","controller":true}])";
  const std::string kController = "system:serviceaccount:kube-system:job-controller";
  const Case cases[] = {
      {"small", request(pod(1)), true, AdmissionOutcome::kAdmitted, ""},
      {"no owner", request(pod(1, "{}")), false, AdmissionOutcome::kRefused, "add the label team"},
      {"big", request(job(8, 2)), false, AdmissionOutcome::kRefused, "16 GPUs are more than 8"},
      {"dear", request(pod(8)), true, AdmissionOutcome::kWarned, ""},
      {"exempt", request(pod(1, "{}"), "", "CREATE", "ana", "kube-system"), true,
       AdmissionOutcome::kExempt, ""},
      {"its own namespace is not asked", request(pod(1, "{}", R"(,"namespace":"kube-system")")),
       false, AdmissionOutcome::kRefused, "add the label"},
      {"pods of a judged job", request(pod(1, "{}", owner), "", "CREATE", kController), true,
       AdmissionOutcome::kExempt, ""},
      {"anybody can claim an owner", request(pod(1, "{}", owner)), false,
       AdmissionOutcome::kRefused, "add the label"},
      {"a controller without an owner", request(pod(1, "{}"), "", "CREATE", kController), false,
       AdmissionOutcome::kRefused, "add the label"},
      {"deleted", request("null", "", "DELETE"), true, AdmissionOutcome::kAdmitted, ""},
      {"nothing to judge", request("null"), false, AdmissionOutcome::kUnknown, "no object"},
      {"a new operation", request(pod(1), "", "PATCH"), false, AdmissionOutcome::kUnknown, "PATCH"},
      {"unknown kind",
       request(R"({"apiVersion":"x.io/v1","kind":"Robot","metadata":{"name":"r"}})"), false,
       AdmissionOutcome::kUnknown, "not known"},
      {"no cost", request(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"r"}})"),
       true, AdmissionOutcome::kAdmitted, ""},
      {"unreadable", request(job(1, -1)), false, AdmissionOutcome::kUnknown, "parallelism"},
      {"a list",
       request(R"({"apiVersion":"v1","kind":"List","items":[)" + pod(1) + "," + pod(1) + "]}"),
       false, AdmissionOutcome::kUnknown, "list"},
      {"status", request(pod(1, "{}"), R"(,"subResource":"status")", "UPDATE"), true,
       AdmissionOutcome::kAdmitted, ""},
  };
  for (const Case& one : cases) {
    const AdmissionAnswer answer = ask_webhook(one.request);
    EXPECT_EQ(answer.is_allowed, one.is_allowed) << one.name << ": " << answer.body;
    EXPECT_EQ(answer.outcome, one.outcome) << one.name << ": " << answer.body;
    EXPECT_NE(answer.message.find(one.says), std::string::npos) << one.name << answer.message;
  }
}

TEST(Admission, AnUpdateThatAsksForNoMoreIsAdmitted) {
  const auto allowed = [](const std::string& object, const std::string& old) {
    return ask_webhook(request(object, old_object(old), "UPDATE")).is_allowed;
  };
  const std::string finalized = R"({"name":"j","finalizers":["a/b"]})";
  EXPECT_TRUE(allowed(job(8, 4), job(8, 4, finalized)));  // only the finalizer went
  EXPECT_TRUE(allowed(job(8, 3), job(8, 4)));             // smaller, though still too large
  EXPECT_FALSE(allowed(job(8, 5), job(8, 4)));
  EXPECT_FALSE(allowed(job(16, 2), job(8, 4)));
  EXPECT_TRUE(allowed(job(1, 1), job(8, 4)));
  EXPECT_TRUE(allowed(pod(9, "{}", R"(,"deletionTimestamp":"2026-11-01T00:00:00Z")"), pod(1)));
  EXPECT_FALSE(allowed(job(8, 4), "null"));
  EXPECT_FALSE(allowed(pod(1, R"({"team":""})"), pod(1)));  // the label was taken off
}

// A claim runs nothing, and an update may not leave what keeps pods apart.
TEST(Admission, WhatKeepsPodsApartIsJudgedAgainWhereItChanges) {
  const std::string claim =
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"}})";
  EXPECT_EQ(ask_webhook(request(claim)).outcome, AdmissionOutcome::kAdmitted);
  std::string other = claim;
  other.replace(other.find("v1"), 2, "x.io/v1");
  EXPECT_FALSE(ask_webhook(request(other)).is_allowed);
  EXPECT_FALSE(ask_webhook(request(R"({"apiVersion":"v1","kind":"List","items":[)" + claim +
                                   R"(,{"apiVersion":"x.io/v1","kind":"Robot"}]})"))
                   .is_allowed);
  const std::vector<GuardrailRule> rules = {
      {.name = "kata", .when = {.runtime_classes_except = {"kata"}}}};
  const auto allowed = [&](const std::string& before, const std::string& after) {
    const auto in = [](const std::string& runtime) {
      std::string made = pod(1);
      return made.replace(made.find("\"restartPolicy\""), 0,
                          "\"runtimeClassName\":\"" + runtime + "\",");
    };
    return ask_webhook(request(in(after), old_object(in(before)), "UPDATE"), {}, false, nullptr,
                       rules)
        .is_allowed;
  };
  EXPECT_TRUE(allowed("kata", "kata"));
  EXPECT_TRUE(allowed("runc", "runc"));  // it runs already
  EXPECT_FALSE(allowed("kata", "runc"));
  EXPECT_TRUE(allowed("runc", "kata"));
}

TEST(Admission, MoreOfAScaleCannotBeJudged) {
  const auto scale = [](int before, int after, const std::string& user = "ana") {
    const auto object = [](int replicas) {
      return fmt::format(R"({{"apiVersion":"autoscaling/v1","kind":"Scale",)"
                         R"("metadata":{{"name":"d"}},"spec":{{"replicas":{}}}}})",
                         replicas);
    };
    return ask_webhook(request(
        object(after), old_object(object(before)) + R"(,"subResource":"scale")", "UPDATE", user));
  };
  EXPECT_TRUE(scale(4, 2).is_allowed);
  EXPECT_TRUE(scale(4, 4).is_allowed);
  EXPECT_FALSE(scale(4, 5).is_allowed);
  EXPECT_TRUE(scale(4, 5, "system:serviceaccount:kube-system:x-controller").is_allowed);
}

TEST(Admission, WhatNeedsAnApprovalIsAskedForAndAdmittedWithItsToken) {
  TestDesk desk;
  const auto ask = [&](const std::string& object, const std::string& more = "",
                       AdmissionEndpoint endpoint = {}) {
    return ask_webhook(request(object, more), endpoint, false, &desk);
  };
  const auto carrying = [](const std::string& token, const std::string& more = "") {
    return R"({"name":"j","annotations":{"pennyweight.io/approval":")" + token + "\"}" + more + "}";
  };
  const AdmissionAnswer refused = ask(job(8, 2));
  EXPECT_FALSE(refused.is_allowed);
  EXPECT_NE(refused.message.find("ap-2 asks for it"), std::string::npos) << refused.message;
  ASSERT_EQ(desk.filed.size(), 1U);
  EXPECT_EQ(desk.filed[0].by, "kubernetes:ana");
  EXPECT_EQ(desk.filed[0].workload, "Job ml/j");
  EXPECT_EQ(desk.filed[0].rules, std::vector<std::string>{"big"});
  EXPECT_FALSE(desk.filed[0].cost);                  // nothing limits its time
  ASSERT_EQ(desk.filed[0].alternatives.size(), 1U);  // spot

  const AdmissionAnswer admitted = ask(job(8, 2, carrying("right")));
  EXPECT_TRUE(admitted.is_allowed) << admitted.message;
  EXPECT_NE(admitted.body.find(R"("approval":"ap-1")"), std::string::npos) << admitted.body;
  EXPECT_EQ(desk.users, std::vector<std::string>{"kubernetes:ana"});
  // The annotation is no part of what was approved.
  EXPECT_EQ(desk.claims[0].content, desk.filed[0].content);

  EXPECT_FALSE(ask(job(8, 2, carrying("wrong"))).is_allowed);
  EXPECT_EQ(desk.filed.size(), 2U);
  EXPECT_TRUE(ask(job(8, 2, carrying("right")), R"(,"dryRun":true)").is_allowed);
  EXPECT_EQ(desk.users.back(), "kubernetes:ana looks");
  EXPECT_FALSE(ask(job(8, 2), R"(,"dryRun":true)").is_allowed);
  EXPECT_FALSE(ask(job(8, 2), "", AdmissionEndpoint::kMutate).body.contains("ap-"));
  EXPECT_EQ(desk.filed.size(), 2U);
  // What a rule denies no approval lifts, and nothing is used up for it.
  EXPECT_FALSE(
      ask(pod(9, "{}", R"(,"annotations":{"pennyweight.io/approval":"right"})")).is_allowed);
  EXPECT_EQ(desk.users.size(), 2U);
  // The name that the API server generates is not what was written.
  std::ignore = ask(job(8, 2, R"({"name":"j-x7k2p","generateName":"j-"})"));
  std::ignore = ask(job(8, 2, R"({"name":"j-94bqz","generateName":"j-"})"));
  EXPECT_EQ(desk.filed[2].content, desk.filed[3].content);
  desk.is_full = true;
  EXPECT_NE(ask(job(8, 2)).message.find("too many wait"), std::string::npos);
}

// Neither a rule that denies nor one that wants an approval of its own is lifted by an approval
// that was given before there was such a rule, and the approval is not used up.
TEST(Admission, AnApprovalLiftsNoDenialThatCameLater) {
  const std::string made =
      job(8, 2, R"({"name":"j","annotations":{"pennyweight.io/approval":"right"}})");
  const RuleConditions when{.kinds = {"Job"}, .gpus_above = 15};
  for (const bool is_first : {true, false}) {
    TestDesk desk;
    std::vector<GuardrailRule> rules = admission_rules();
    rules.insert(is_first ? rules.begin() : rules.end(),
                 {.name = "frozen", .when = when, .reason = "the cluster is full"});
    const auto answer = ask_webhook(request(made), {}, false, &desk, rules);
    EXPECT_FALSE(answer.is_allowed);
    EXPECT_NE(answer.message.find("the cluster is full"), std::string::npos) << answer.message;
    EXPECT_TRUE(desk.claims.empty());
    EXPECT_TRUE(desk.filed.empty()) << "nobody can approve it";
  }
  TestDesk desk;
  std::vector<GuardrailRule> rules = admission_rules();
  rules.push_back({.name = "dear jobs", .effect = RuleEffect::kRequireApproval, .when = when});
  std::ignore = ask_webhook(request(made), {}, false, &desk, rules);
  ASSERT_EQ(desk.claims.size(), 1U);
  EXPECT_EQ(desk.claims[0].rules, (std::vector<std::string>{"big", "dear jobs"}));
}

TEST(Admission, OpenOrClosedByChoice) {
  const std::string robot =
      request(R"({"apiVersion":"x.io/v1","kind":"Robot","metadata":{"name":"r"}})");
  EXPECT_FALSE(ask_webhook(robot).is_allowed);
  const AdmissionAnswer open = ask_webhook(robot, AdmissionEndpoint::kValidate, true);
  EXPECT_TRUE(open.is_allowed);
  EXPECT_NE(open.body.find("\"warnings\""), std::string::npos) << open.body;
}

TEST(Admission, WhatIsNoReviewIsAnError) {
  const Catalog catalog = Catalog::built_in();
  const AdmissionPolicy policy{.rules = {}, .catalog = catalog};
  for (const char* body :
       {"", "[]", "{", R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})",
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}})",
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1",)"
        R"("request":{"uid":"a"}})",
        R"({"kind":"Pod","apiVersion":"v1","request":{"uid":"a"}})",
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
        R"("request":{"uid":"a","uid":"b"}})"}) {
    EXPECT_FALSE(answer_review(body, AdmissionEndpoint::kValidate, policy, kAdmissionDay)) << body;
  }
  const std::string deep = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
                           R"("request":{"uid":"a","object":)" +
                           std::string(1000, '[') + std::string(1000, ']') + "}}";
  EXPECT_FALSE(answer_review(deep, AdmissionEndpoint::kValidate, policy, kAdmissionDay));
}

// Where no rule changes anything, nothing is priced; nobody sees that.
TEST(Admission, NothingToChangeIsAsNothingThatChanges) {
  const std::vector<GuardrailRule> none = {{.name = "big", .when = {.gpus_above = 8}}};
  std::vector<GuardrailRule> never = none;
  never.push_back({.name = "never",
                   .effect = RuleEffect::kMutate,
                   .when = {.names = {"nobody"}},
                   .change = {.labels = {{"a", "b"}}}});
  const std::string list = R"({"apiVersion":"v1","kind":"List","items":[)";
  const std::string config = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})";
  const std::string robot = R"({"apiVersion":"x.io/v1","kind":"Robot","metadata":{"name":"r"}})";
  const std::string unknown_gpu =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[)"
      R"({"name":"c","resources":{"limits":{"example.com/x":"1"}}}]}})";
  for (const std::string& object :
       {pod(1), pod(9), job(8, 2), job(8, 0), unknown_gpu, config, robot, std::string("{}"),
        std::string(R"({"apiVersion":"v1","kind":"Pod"})"), list + "]}", list + pod(1) + "]}",
        list + pod(1) + "," + job(8, 2) + "]}", list + robot + "," + pod(1) + "]}"}) {
    for (const std::string& asked :
         {request(object), request(object, old_object(pod(1)), "UPDATE"),
          request(object, "", "DELETE"), request(object, "", "CREATE", "ana", "kube-system")}) {
      const AdmissionAnswer now =
          ask_webhook(asked, AdmissionEndpoint::kMutate, false, nullptr, none);
      const AdmissionAnswer then =
          ask_webhook(asked, AdmissionEndpoint::kMutate, false, nullptr, never);
      EXPECT_EQ(now.body, then.body) << asked;
      EXPECT_EQ(now.outcome, then.outcome) << asked;
      EXPECT_EQ(now.workload, then.workload) << asked;
      EXPECT_EQ(now.message, then.message) << asked;
    }
  }
}

TEST(Admission, OnlyTheMutatingEndpointChanges) {
  const std::string bare = request(pod(1, "{}"), "", "CREATE", "ana", "nlp");
  EXPECT_EQ(ask_webhook(bare).outcome, AdmissionOutcome::kRefused);
  const AdmissionAnswer changed = ask_webhook(bare, AdmissionEndpoint::kMutate);
  EXPECT_TRUE(changed.is_allowed);
  EXPECT_EQ(changed.outcome, AdmissionOutcome::kChanged);
  EXPECT_NE(changed.body.find("\"patchType\":\"JSONPatch\""), std::string::npos);
  // A template that stays as it is is left alone, so that no pod is started anew.
  const std::string update =
      request(pod(1, "{}"), old_object(pod(1, "{}")), "UPDATE", "ana", "nlp");
  EXPECT_EQ(ask_webhook(update, AdmissionEndpoint::kMutate).outcome, AdmissionOutcome::kAdmitted);
}

}  // namespace
}  // namespace pennyweight::guardrails
