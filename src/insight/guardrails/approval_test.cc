#include "insight/guardrails/approval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace pennyweight::guardrails {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

constexpr Instant kAsked = from_unix_seconds(1'790'000'000);

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }

std::string digest(const char* text) { return std::string(kApprovalContentVersion) + text; }

Approval asked_approval() {
  return {.request = {.id = "ap-1",
                      .at = kAsked,
                      .by = "ana",
                      .source = "cli",
                      .workload = "Job ml/train",
                      .content = digest("c0ffee"),
                      .rules = {"big", "dear"},
                      .cost = usd(500),
                      .cost_of = "run"}};
}

ApprovalDecision approved_by(const std::string& who, Instant until = kAsked + hours(48)) {
  return {.at = kAsked + hours(1), .by = who, .approves = true, .note = "", .until = until};
}

TEST(Approval, WhoMayDecideOnWhat) {
  struct Case {
    const char* name;
    std::function<void(Approval&, ApprovalTerms&, DecisionWish&, Instant&)> set;
    const char* refusal;  // empty: it is recorded
  };
  const Case cases[] = {
      {"another person", [](auto&, auto&, auto&, auto&) {}, ""},
      {"their own", [](auto&, auto&, auto& wish, auto&) { wish.by = "ana"; }, "their own request"},
      {"their own, by another way in", [](auto&, auto&, auto& wish, auto&) { wish.by = "cli:ana"; },
       "their own request"},
      {"their own, by mail address",
       [](auto&, auto&, auto& wish, auto&) { wish.by = "Ana@example.org"; }, "their own request"},
      {"asked through Kubernetes",
       [](auto& approval, auto&, auto& wish, auto&) {
         approval.request.by = "kubernetes:oidc:bo@example.org";
         wish.by = "bo";
       },
       "their own request"},
      {"too late", [](auto&, auto&, auto&, auto& now) { now = kAsked + hours(7 * 24); }, "expired"},
      {"just in time",
       [](auto&, auto&, auto&, auto& now) {
         now = kAsked + hours(7 * 24) - std::chrono::milliseconds(1);
       },
       ""},
      {"for too long",
       [](auto&, auto&, auto& wish, auto&) { wish.until = kAsked + hours(1 + 7 * 24 + 1); },
       "it may end until"},
      {"until before now", [](auto&, auto&, auto& wish, auto&) { wish.until = kAsked; },
       "it may end until"},
      {"below the approver's limit",
       [](auto&, auto& terms, auto&, auto&) { terms.approvers = {{"bo", usd(500)}}; }, ""},
      {"above the approver's limit",
       [](auto&, auto& terms, auto&, auto&) { terms.approvers = {{"bo", usd(499)}}; },
       "'bo' may approve up to 499.00 USD, and this costs 500.00 USD a run"},
      {"no approver", [](auto&, auto& terms, auto&, auto&) { terms.approvers = {{"cy", {}}}; },
       "not among"},
      {"a cost that is not known",
       [](auto& approval, auto& terms, auto&, auto&) {
         approval.request.cost.reset();
         terms.approvers = {{"bo", usd(1'000'000)}};
       },
       "no known cost"},
      {"by whoever may approve any cost",
       [](auto& approval, auto& terms, auto&, auto&) {
         approval.request.cost.reset();
         terms.approvers = {{"b*", {}}};
       },
       ""},
      {"twice by one",
       [](auto& approval, auto& terms, auto&, auto&) {
         approval.decisions = {approved_by("bo")};
         terms.two_persons_above = usd(499);
       },
       "it takes two persons"},
      {"when it is approved",
       [](auto& approval, auto&, auto&, auto&) { approval.decisions = {approved_by("cy")}; },
       "there is nothing to decide"},
      {"when it is refused",
       [](auto& approval, auto&, auto&, auto&) {
         approval.decisions = {{.at = kAsked, .by = "cy", .approves = false, .note = "no"}};
       },
       "there is nothing to decide"},
      {"a refusal without a reason", [](auto&, auto&, auto& wish, auto&) { wish.approves = false; },
       "needs a note"},
      {"their own, taken back",
       [](auto&, auto&, auto& wish, auto&) { wish = {.by = "ana", .note = "not needed"}; }, ""},
      {"taken back after it was approved",
       [](auto& approval, auto&, auto& wish, auto&) {
         approval.decisions = {approved_by("cy")};
         wish = {.by = "bo", .note = "a mistake"};
       },
       ""},
      {"a note with control characters",
       [](auto&, auto&, auto& wish, auto&) { wish.note = std::string("a\0b", 3); }, "plain text"},
  };
  for (const Case& one : cases) {
    Approval approval = asked_approval();
    ApprovalTerms terms;
    DecisionWish wish{.by = "bo", .approves = true};
    Instant now = kAsked + hours(1);
    one.set(approval, terms, wish, now);
    const auto decision = decide(approval, wish, terms, now);
    if (std::string_view(one.refusal).empty()) {
      EXPECT_TRUE(decision) << one.name << ": " << decision.error().message;
    } else {
      ASSERT_FALSE(decision) << one.name;
      EXPECT_THAT(decision.error().message, HasSubstr(one.refusal)) << one.name;
    }
  }
}

TEST(Approval, CoversWhatWasAskedForAndNothingElse) {
  struct Case {
    const char* name;
    std::function<void(Approval&, ApprovalTerms&, ApprovalClaim&, Instant&)> set;
    const char* refusal;
  };
  const Case cases[] = {
      {"as asked", [](auto&, auto&, auto&, auto&) {}, ""},
      {"cheaper", [](auto&, auto&, auto& claim, auto&) { claim.cost = usd(499); }, ""},
      {"dearer by now",
       [](auto&, auto&, auto& claim, auto&) {
         claim.cost = Money::from_ticks(usd(500).ticks() + 1, kUsd);
       },
       "it now costs"},
      {"no price by now", [](auto&, auto&, auto& claim, auto&) { claim.cost.reset(); },
       "an unknown amount"},
      {"another currency",
       [](auto&, auto&, auto& claim, auto&) { claim.cost = Money::from_units(1, kEur); },
       "it now costs"},
      {"changed content",
       [](auto&, auto&, auto& claim, auto&) { claim.content = digest("c0ffed"); }, "was changed"},
      {"fewer rules", [](auto&, auto&, auto& claim, auto&) { claim.rules = {"dear"}; }, ""},
      {"another rule", [](auto&, auto&, auto& claim, auto&) { claim.rules = {"big", "new"}; },
       "does not cover rule 'new'"},
      {"at its end", [](auto&, auto&, auto&, auto& now) { now = kAsked + hours(48); }, "expired"},
      {"just before its end",
       [](auto&, auto&, auto&, auto& now) {
         now = kAsked + hours(48) - std::chrono::milliseconds(1);
       },
       ""},
      {"replayed",
       [](auto& approval, auto&, auto&, auto&) {
         approval.uses = {{kAsked + hours(2), "kubernetes:ana"}};
       },
       "was used at"},
      {"used before, and good until its end",
       [](auto& approval, auto&, auto&, auto&) {
         approval.uses = {{kAsked + hours(2), "kubernetes:ana"}};
         approval.decisions[0].is_once = false;
       },
       ""},
      {"nobody decided", [](auto& approval, auto&, auto&, auto&) { approval.decisions.clear(); },
       "pending; wait"},
      {"one of two", [](auto&, auto& terms, auto&, auto&) { terms.two_persons_above = usd(499); },
       "pending; wait"},
      {"one suffices at the amount itself",
       [](auto&, auto& terms, auto&, auto&) { terms.two_persons_above = usd(500); }, ""},
      {"the earlier end of two",
       [](auto& approval, auto& terms, auto&, auto& now) {
         terms.two_persons_above = usd(1);
         approval.decisions.push_back(approved_by("cy", kAsked + hours(3)));
         now = kAsked + hours(3);
       },
       "expired"},
      {"taken back",
       [](auto& approval, auto&, auto&, auto&) {
         approval.decisions.push_back({.at = kAsked, .by = "cy", .approves = false, .note = "no"});
       },
       "refused by cy"},
  };
  for (const Case& one : cases) {
    Approval approval = asked_approval();
    approval.decisions = {approved_by("bo")};
    ApprovalTerms terms;
    ApprovalClaim claim{.content = digest("c0ffee"), .rules = {"big", "dear"}, .cost = usd(500)};
    Instant now = kAsked + hours(2);
    one.set(approval, terms, claim, now);
    const auto covered = check_claim(approval, claim, terms, now);
    if (std::string_view(one.refusal).empty()) {
      EXPECT_TRUE(covered) << one.name << ": " << covered.error().message;
    } else {
      ASSERT_FALSE(covered) << one.name;
      EXPECT_THAT(covered.error().message, HasSubstr(one.refusal)) << one.name;
    }
  }
}

// What was taken of less can't be compared with what runs now: it says so, and nothing is run by
// it.
TEST(Approval, DigestsOfAnEarlierVersionHaveExpired) {
  const ApprovalTerms terms;
  const Instant now = kAsked + hours(2);
  Approval earlier = asked_approval();
  earlier.request.content = "2:" + std::string(64, 'a');
  EXPECT_TRUE(is_of_earlier_version(earlier.request));
  earlier.request.content = std::string(64, 'a');  // of the first version
  const ApprovalClaim claim{.content = earlier.request.content, .rules = {"big"}, .cost = usd(500)};
  EXPECT_EQ(state_of(earlier, terms, now), ApprovalState::kExpired);
  const auto decision = decide(earlier, {.by = "bo", .approves = true}, terms, now);
  ASSERT_FALSE(decision);
  EXPECT_THAT(decision.error().message, HasSubstr("earlier version"));
  earlier.decisions = {approved_by("bo")};
  EXPECT_EQ(state_of(earlier, terms, now), ApprovalState::kExpired);
  const auto covered = check_claim(earlier, claim, terms, now);
  ASSERT_FALSE(covered);
  EXPECT_THAT(covered.error().message, HasSubstr("earlier version"));
  EXPECT_THAT(covered.error().message, HasSubstr("ask again"));
  earlier.uses = {{kAsked + hours(2), "kubernetes:ana"}};
  EXPECT_EQ(state_of(earlier, terms, now), ApprovalState::kUsed);
  EXPECT_FALSE(is_of_earlier_version(
      {.content = content_hash({.file = "", .kind = "Pod", .name_space = "ml", .name = "p"})}));
}

// A link decides once, on what is pending, in the name of an approver who is listed.
TEST(Approval, ALinkDecidesOnce) {
  struct Case {
    const char* name;
    std::function<void(Approval&, ApprovalTerms&, DecisionWish&)> set;
    const char* refusal;  // empty: it is recorded
  };
  const Case cases[] = {
      {"an approver's", [](auto&, auto&, auto&) {}, ""},
      {"to refuse",
       [](auto&, auto&, auto& wish) {
         wish.approves = false;
         wish.note = "too dear";
       },
       ""},
      {"to refuse without a note", [](auto&, auto&, auto& wish) { wish.approves = false; },
       "needs a note"},
      {"who asked for it", [](auto&, auto&, auto& wish) { wish.by = "ana"; }, "their own request"},
      {"who asked for it another way",
       [](auto& approval, auto&, auto&) { approval.request.by = "kubernetes:BO@example.org"; },
       "their own request"},
      {"no approver any more", [](auto&, auto&, auto& wish) { wish.by = "eve"; },
       "decide nothing any more"},
      {"an approver by a pattern only",
       [](auto&, auto&, auto& wish) { wish.by = "cli:platform-1"; }, "decide nothing any more"},
      {"there are no links any more", [](auto&, auto& terms, auto&) { terms.link_address = ""; },
       "decide nothing any more"},
      {"beyond their limit", [](auto&, auto& terms, auto&) { terms.approvers[1].up_to = usd(499); },
       "may approve up to 499.00 USD"},
      {"again",
       [](auto& approval, auto& terms, auto&) {
         terms.two_persons_above = usd(1);
         approval.decisions = {approved_by("link:bo")};
       },
       "a link decides once"},
      {"to refuse what they have approved",
       [](auto& approval, auto& terms, auto& wish) {
         terms.two_persons_above = usd(1);
         approval.decisions = {approved_by("bo")};
         wish.approves = false;
         wish.note = "on second thoughts";
       },
       "a link decides once"},
      {"to take back what another has approved",
       [](auto& approval, auto&, auto& wish) {
         approval.decisions = {approved_by("cleo")};
         wish.approves = false;
         wish.note = "no";
       },
       "there is nothing to decide"},
      {"the second of two",
       [](auto& approval, auto& terms, auto&) {
         terms.two_persons_above = usd(1);
         approval.decisions = {approved_by("cleo")};
       },
       ""},
  };
  for (const Case& one : cases) {
    Approval approval = asked_approval();
    ApprovalTerms terms{
        .approvers = {{.who = "ana"}, {.who = "bo"}, {.who = "cleo"}, {.who = "cli:platform-*"}},
        .link_address = "https://example.org"};
    DecisionWish wish{.by = "bo", .approves = true, .is_by_link = true};
    one.set(approval, terms, wish);
    const auto decision = decide(approval, wish, terms, kAsked + hours(2));
    EXPECT_EQ(decision.has_value(), std::string(one.refusal).empty()) << one.name;
    if (decision) {
      EXPECT_EQ(decision->by, "link:bo") << one.name;
    } else {
      EXPECT_THAT(decision.error().message, HasSubstr(one.refusal)) << one.name;
    }
  }
}

// For a day dan decides for cleo, who may approve up to 1,000 dollars.
TEST(Approval, DelegatesCountAsTheApprover) {
  struct Case {
    const char* name;
    std::function<void(Approval&, ApprovalTerms&, DecisionWish&, Instant&)> set;
    const char* refusal;
    const char* on_behalf;
  };
  const Date day = std::chrono::floor<std::chrono::days>(kAsked);
  const auto by_delegate = [] {
    ApprovalDecision decision = approved_by("dan");
    decision.on_behalf = "cleo";
    return decision;
  };
  const Case cases[] = {
      {"for cleo", [](auto&, auto&, auto&, auto&) {}, "", "cleo"},
      {"cleo herself", [](auto&, auto&, auto& wish, auto&) { wish.by = "cleo"; }, "", ""},
      {"somebody else", [](auto&, auto&, auto& wish, auto&) { wish.by = "eve"; }, "not among", ""},
      {"on the day before",
       [&](auto&, auto& terms, auto&, auto&) {
         terms.approvers[0].delegate->from = day + std::chrono::days(1);
       },
       "not among", ""},
      {"on the day after",
       [&](auto&, auto& terms, auto&, auto&) {
         terms.approvers[0].delegate->until = day - std::chrono::days(1);
       },
       "not among", ""},
      {"above cleo's limit",
       [](auto&, auto& terms, auto&, auto&) { terms.approvers[0].up_to = usd(499); },
       "may approve up to 499.00 USD", ""},
      {"with a limit of their own",
       [](auto&, auto& terms, auto&, auto&) { terms.approvers.push_back({"dan", usd(500)}); }, "",
       ""},
      {"what cleo asked for",
       [](auto& approval, auto&, auto&, auto&) { approval.request.by = "kubernetes:cleo@x.org"; },
       "as a delegate only", ""},
      {"what they asked for themselves",
       [](auto& approval, auto&, auto&, auto&) { approval.request.by = "cli:dan"; },
       "their own request", ""},
      {"what cleo approved already",
       [](auto& approval, auto& terms, auto&, auto&) {
         approval.decisions = {approved_by("cleo")};
         terms.two_persons_above = usd(1);
       },
       "as a delegate only", ""},
      {"what the delegate approved already",
       [&](auto& approval, auto& terms, auto& wish, auto&) {
         approval.decisions = {by_delegate()};
         terms.two_persons_above = usd(1);
         wish.by = "cli:cleo";
       },
       "dan has approved it for cleo already", ""},
      {"what another delegate approved for the same approver",
       [&](auto& approval, auto& terms, auto& wish, auto&) {
         approval.decisions = {by_delegate()};
         terms.two_persons_above = usd(1);
         terms.approvers.push_back(
             {.who = "cli:cleo",
              .delegate = ApproverDelegate{.to = "eve", .from = day, .until = day}});
         wish.by = "eve";
       },
       "as a delegate only", ""},
      {"another approver is the second",
       [&](auto& approval, auto& terms, auto& wish, auto&) {
         approval.decisions = {by_delegate()};
         terms.two_persons_above = usd(1);
         terms.approvers.push_back({"eve", {}});
         wish.by = "eve";
       },
       "", ""},
  };
  for (const Case& one : cases) {
    Approval approval = asked_approval();
    ApprovalTerms terms;
    terms.approvers = {{.who = "cleo",
                        .up_to = usd(1000),
                        .delegate = ApproverDelegate{.to = "dan", .from = day, .until = day}}};
    DecisionWish wish{.by = "dan", .approves = true};
    Instant now = kAsked + std::chrono::minutes(1);
    one.set(approval, terms, wish, now);
    const auto decision = decide(approval, wish, terms, now);
    if (std::string_view(one.refusal).empty()) {
      ASSERT_TRUE(decision) << one.name << ": " << decision.error().message;
      EXPECT_EQ(decision->on_behalf, one.on_behalf) << one.name;
    } else {
      ASSERT_FALSE(decision) << one.name;
      EXPECT_THAT(decision.error().message, HasSubstr(one.refusal)) << one.name;
    }
  }
}

// Whoever decides for a team decides on nothing of another.
TEST(Approval, IsOfWhatAllComponentsShare) {
  WorkloadEstimate workload;
  workload.workload.kind = "AppWrapper";
  workload.workload.name_space = "ml";
  workload.workload.labels = {{"team", "nlp"}, {"env", "dev"}};
  workload.workload.parts = {{.kind = "Job", .name_space = "ml", .name = "a"}};
  workload.workload.parts[0].labels = {{"team", "nlp"}, {"env", "dev"}};
  ApprovalRequest request = request_of(workload, {}, kUsd, nullptr);
  EXPECT_EQ(request.labels, workload.workload.labels);
  EXPECT_EQ(request.name_space, "ml");
  workload.workload.parts[0].labels["team"] = "cv";
  workload.workload.parts[0].name_space = "cv";
  request = request_of(workload, {}, kUsd, nullptr);
  EXPECT_EQ(request.labels, (decltype(request.labels){{"env", "dev"}}));
  EXPECT_EQ(request.name_space, "");
  EXPECT_TRUE(request.owners.empty());
}

// By the pods that will be charged, and not by what is around them.
TEST(Approval, SaysWhoseItIs) {
  Policy policy;
  policy.dimensions = {{.dimension = "team", .labels = {"team"}, .fallback = ""},
                       {.dimension = "client", .labels = {"client"}, .fallback = "(none)"}};
  WorkloadEstimate workload;
  workload.workload.kind = "Job";
  workload.workload.labels = {{"team", "nlp"}};
  const auto teams = [&] {
    std::vector<std::string> all;
    for (const PlannedDimensions& owner : request_of(workload, {}, kUsd, &policy).owners) {
      all.emplace_back(owner.known.find("team").value_or("not known"));
      EXPECT_EQ(owner.known.find("client"), "(none)");
    }
    return all;
  };
  EXPECT_EQ(teams(), std::vector<std::string>{"nlp"});
  workload.workload.groups.resize(3);
  EXPECT_EQ(teams(), std::vector<std::string>{"nlp"});
  workload.workload.groups[0].pod_labels.emplace()["team"] = "cv";
  workload.workload.groups[2].pod_labels.emplace()["x"] = "y";
  EXPECT_EQ(teams(), (std::vector<std::string>{"cv", "nlp", "not known"}));
}

// Whatever a rule can look at is in the hash; where it stands in a file is not.
TEST(Approval, EveryChangeOfTheContentShows) {
  using manifests::WorkloadRequest;
  WorkloadRequest base{.file = "a.yaml", .line = 3, .kind = "Job", .name_space = "ml", .name = "t"};
  base.labels = {{"team", "nlp"}};
  base.groups = {{.name = "w", .gpus = {manifests::whole_gpus(8)}}};
  const std::string before = content_hash(base);
  const std::function<void(WorkloadRequest&)> changes[] = {
      [](auto& w) { w.kind = "Pod"; },
      [](auto& w) { w.name_space = "cv"; },
      [](auto& w) { w.name = "u"; },
      [](auto& w) { w.labels["team"] = "cv"; },
      [](auto& w) { w.labels = {{"team", "nl"}, {"p", ""}}; },
      [](auto& w) { w.labels.clear(); },
      [](auto& w) { w.lifetime = manifests::Lifetime::kRun; },
      [](auto& w) { w.schedule = "0 3 * * *"; },
      [](auto& w) { w.groups.push_back(w.groups[0]); },
      [](auto& w) { w.groups[0].name = "x"; },
      [](auto& w) { w.groups[0].replicas = 2; },
      [](auto& w) { w.groups[0].replicas_max = 1; },
      [](auto& w) { w.groups[0].cpu_milli = 1; },
      [](auto& w) { w.groups[0].memory_bytes = 1; },
      [](auto& w) { w.groups[0].gpus[0].count = 9; },
      [](auto& w) { w.groups[0].gpus[0].mig_profile = "1g.5gb"; },
      [](auto& w) { w.groups[0].gpus[0].cores_percent = 5; },
      [](auto& w) { w.groups[0].gpus[0].memory_bytes = 5; },
      [](auto& w) { w.groups[0].gpus[0].memory_percent = 5; },
      [](auto& w) { w.groups[0].gpus[0].compute = CardShare::whole(); },
      [](auto& w) { w.groups[0].gpus[0].memory = CardShare::whole(); },
      [](auto& w) { w.groups[0].place.region = "eu-central-1"; },
      [](auto& w) { w.groups[0].place.provider = "aws"; },
      [](auto& w) { w.groups[0].place.gpu_model = "h100"; },
      [](auto& w) { w.groups[0].place.instance_type = "p5"; },
      [](auto& w) { w.groups[0].place.is_spot = true; },
      [](auto& w) { w.groups[0].takes_whole_machines = true; },
      [](auto& w) { w.groups[0].may_span_machines = true; },
      [](auto& w) { w.groups[0].replica_ms_max = 0; },
      [](auto& w) { w.groups[0].problem = "?"; },
      [](auto& w) { w.groups[0].images = {"x"}; },
      [](auto& w) { w.groups[0].images = {"x", "x"}; },
      [](auto& w) { w.groups[0].risks = {{manifests::RiskKind::kRoot, "it may be root"}}; },
      [](auto& w) { w.groups[0].risks = {{manifests::RiskKind::kHostPath, "it may be root"}}; },
      [](auto& w) { w.groups[0].unknown_resources = {"example.com/fast"}; },
      [](auto& w) { w.groups[0].isolation.emplace(); },
      [](auto& w) { w.groups[0].isolation = {.runtime_class = "kata"}; },
      [](auto& w) { w.groups[0].isolation = {.is_on_host_network = true}; },
      [](auto& w) { w.groups[0].isolation = {.volumes = {{.name = "v"}}}; },
      [](auto& w) { w.groups[0].isolation = {.volumes = {{.name = "v", .claim = "c"}}}; },
      [](auto& w) { w.groups[0].isolation = {.volumes = {{.name = "v", .storage_class = "c"}}}; },
      [](auto& w) { w.groups[0].isolation = {.volumes = {{.name = "v", .source = "c"}}}; },
      [](auto& w) { w.groups[0].pod_labels.emplace(); },
      [](auto& w) { w.groups[0].pod_labels.emplace()["team"] = "cv"; },
      [](auto& w) { w.parts = {{.kind = "Pod", .name_space = "", .name = "a"}}; },
      [](auto& w) { w.parts = {{.kind = "Pod", .name_space = "", .name = "a", .groups = {0}}}; },
      [](auto& w) {
        w.parts = {{.kind = "Pod", .name_space = "", .name = "a", .schedule = "@daily"}};
      },
      [](auto& w) {
        w.parts = {
            {.kind = "Pod", .name_space = "", .name = "a", .lifetime = manifests::Lifetime::kRun}};
      },
  };
  std::set<std::string> hashes = {before};
  std::size_t number = 0;
  for (const auto& change : changes) {
    WorkloadRequest other = base;
    change(other);
    EXPECT_TRUE(hashes.insert(content_hash(other)).second) << "change " << number;
    ++number;
  }
  WorkloadRequest same = base;
  same.file = "b.yaml";
  same.line = 7;
  same.groups[0].line = 9;
  same.notes = {"suspended"};
  same.approval = "ap-1.x";
  same.labels["batch.kubernetes.io/controller-uid"] = "8f14";
  EXPECT_EQ(content_hash(same), before);
}

}  // namespace
}  // namespace pennyweight::guardrails
