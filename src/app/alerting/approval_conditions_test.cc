#include "app/alerting/approval_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

using guardrails::Approval;
using std::chrono::hours;
using testing::HasSubstr;

const Instant kAsking = *parse_instant("2026-11-02T09:00:00Z");

Approval pending_request(const std::string& id = "ap-1") {
  return {.request = {.id = id,
                      .at = kAsking,
                      .by = "kubernetes:ana",
                      .workload = "Job ml/train",
                      .content = std::string(guardrails::kApprovalContentVersion) + "c0ffee",
                      .rules = {"big"},
                      .reason = "the yearly run",
                      .cost = Money::from_units(1234, kUsd),
                      .cost_of = "run"}};
}

TEST(ApprovalConditions, EachApproverHearsOfTheirTurn) {
  const guardrails::ApprovalTerms terms{.approvers = {{.who = "bo"}, {.who = "cleo"}},
                                        .escalate_ms = 4 * 3'600'000};
  const Approval one[] = {pending_request()};
  auto found = approval_conditions(one, terms, kAsking + hours(1));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "approval_pending");
  EXPECT_EQ(found[0].owner, "bo");
  EXPECT_EQ(
      found[0].summary,
      "ap-1 waits for a decision since 2026-11-02T09:00:00Z and expires at "
      "2026-11-09T09:00:00Z: kubernetes:ana asks for Job ml/train, which costs 1,234.00 USD a "
      "run: the yearly run. bo is asked");
  found = approval_conditions(one, terms, kAsking + hours(4));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].rule, "approval_escalated");
  EXPECT_EQ(found[1].owner, "cleo");
  EXPECT_EQ(found[1].severity, AlertSeverity::kCritical);
  EXPECT_NE(found[0].scope, found[1].scope);
  found = approval_conditions(one, terms, kAsking + hours(8));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[2].summary, HasSubstr("everybody who may approve it has been asked"));
  const Approval own[] = {pending_request()};
  found = approval_conditions(own, {.approvers = {{.who = "ana"}}}, kAsking);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].summary, HasSubstr("too few who may approve it"));
  EXPECT_TRUE(approval_conditions(one, terms, kAsking + hours(24 * 7)).empty());
}

TEST(ApprovalConditions, OfManyTheOldestAreTold) {
  std::vector<Approval> many;
  for (std::size_t i = 0; i < kApprovalsToldMax + 3; ++i) {
    many.push_back(pending_request("ap-" + std::to_string(i)));
  }
  const auto found = approval_conditions(many, {}, kAsking);
  ASSERT_EQ(found.size(), kApprovalsToldMax + 1);
  EXPECT_THAT(found.back().summary, HasSubstr("besides, 3 requests wait"));
}

}  // namespace
}  // namespace pennyweight
