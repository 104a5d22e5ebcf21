#include "insight/guardrails/approver_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight::guardrails {
namespace {

using std::chrono::hours;

constexpr Instant kTurnsBegin = from_unix_seconds(1'790'000'000);

Money turn_dollars(std::int64_t units) { return Money::from_units(units, kUsd); }

Approval waiting_approval(std::int64_t cost) {
  return {.request = {.id = "ap-1",
                      .at = kTurnsBegin,
                      .by = "kubernetes:ana",
                      .content = std::string(kApprovalContentVersion) + "c0ffee",
                      .rules = {"big"},
                      .cost = turn_dollars(cost),
                      .cost_of = "run"}};
}

// ana up to 100, bo and cleo up to 1,000, the platform any amount; four hours each.
ApprovalTerms turn_terms() {
  return {.two_persons_above = turn_dollars(500),
          .approvers = {{.who = "ana", .up_to = turn_dollars(5000)},
                        {.who = "bo", .up_to = turn_dollars(1000)},
                        {.who = "cleo", .up_to = turn_dollars(1000)},
                        {.who = "cli:platform-*"}},
          .escalate_ms = 4 * 3'600'000};
}

// "bo@0 cleo@4!": whose turn, since which hour, and whether it was escalated.
std::string shown_turns(const Approval& approval, const ApprovalTerms& terms, int after_hours) {
  std::string text;
  for (const ApproverTurn& turn :
       approver_turns(approval, terms, kTurnsBegin + hours(after_hours))) {
    const auto since = std::chrono::duration_cast<hours>(turn.since - kTurnsBegin).count();
    text += fmt::format(
        "{}{}{}@{}{}", text.empty() ? "" : " ", turn.nobody_is_left ? "nobody" : turn.who,
        turn.delegate.empty() ? "" : "/" + turn.delegate, since, turn.is_escalated ? "!" : "");
  }
  return text;
}

// An account that may not decide is asked nothing; a delegate decides in its place.
TEST(ApproverTurns, WhoseAccountMayNotIsLeftOut) {
  ApprovalTerms terms = turn_terms();
  const Approval approval = waiting_approval(50);
  std::string away = "bo";
  const auto asked = [&](int after_hours) {
    std::string text;
    for (const ApproverTurn& turn :
         approver_turns(approval, terms, kTurnsBegin + hours(after_hours),
                        [&](const std::string& who, const ApprovalRequest& request) {
                          EXPECT_EQ(request.id, "ap-1");
                          return away != "all" && who != away;
                        })) {
      text += (turn.nobody_is_left ? "nobody" : turn.who) + " ";
    }
    return text;
  };
  EXPECT_EQ(asked(0), "cleo ");
  EXPECT_EQ(asked(4), "cleo cli:platform-* ");
  away = "all";
  EXPECT_EQ(asked(0), "nobody ");
  const Date today = std::chrono::floor<std::chrono::days>(kTurnsBegin);
  terms.approvers[1].delegate = ApproverDelegate{.to = "dan", .from = today, .until = today};
  EXPECT_EQ(asked(0), "bo ");
}

TEST(ApproverTurns, OneMoreIsAskedEachTime) {
  const struct {
    std::int64_t cost;
    int hour;
    const char* turns;
  } cases[] = {
      {50, 0, "bo@0"},  // ana asked for it
      {50, 3, "bo@0"},
      {50, 4, "bo@0 cleo@4!"},
      {50, 8, "bo@0 cleo@4! cli:platform-*@8!"},
      {50, 12, "bo@0 cleo@4! cli:platform-*@8! nobody@12!"},
      {50, 100, "bo@0 cleo@4! cli:platform-*@8! nobody@12!"},
      {501, 0, "bo@0 cleo@0"},  // it takes two
      {501, 4, "bo@0 cleo@0 cli:platform-*@4!"},
      {2000, 0, "cli:platform-*@0 nobody@0!"},  // and there are not two
      {50, 7 * 24, ""},                         // it has expired
  };
  for (const auto& one : cases) {
    EXPECT_EQ(shown_turns(waiting_approval(one.cost), turn_terms(), one.hour), one.turns)
        << one.cost << " after " << one.hour;
  }
}

TEST(ApproverTurns, WhoHasDecidedIsNotAskedAgain) {
  Approval approval = waiting_approval(501);
  approval.decisions = {{.at = kTurnsBegin + hours(1),
                         .by = "bo",
                         .approves = true,
                         .note = "",
                         .until = kTurnsBegin + hours(48)}};
  EXPECT_EQ(shown_turns(approval, turn_terms(), 2), "cleo@0");
  EXPECT_EQ(shown_turns(approval, turn_terms(), 5), "cleo@0 cli:platform-*@4!");
  approval.decisions.push_back(approval.decisions[0]);
  approval.decisions[1].by = "cleo";
  EXPECT_EQ(shown_turns(approval, turn_terms(), 5), "");
  approval.decisions[1].approves = false;
  EXPECT_EQ(shown_turns(approval, turn_terms(), 5), "");
}

TEST(ApproverTurns, WithoutTermsWhoeverMay) {
  ApprovalTerms terms;
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 100), "@0");
  terms.escalate_ms = 3'600'000;
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 0), "@0");
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 100), "@0 @1!");
  terms = turn_terms();
  terms.escalate_ms.reset();
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 100), "bo@0");
  const Date day = std::chrono::floor<std::chrono::days>(kTurnsBegin);
  terms.approvers[1].delegate = ApproverDelegate{.to = "dan", .from = day, .until = day};
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 0), "bo/dan@0");
  EXPECT_EQ(shown_turns(waiting_approval(50), terms, 48), "bo@0");
  // A clock that went back asks nobody twice.
  EXPECT_EQ(shown_turns(waiting_approval(50), turn_terms(), -5), "bo@0");
}

}  // namespace
}  // namespace pennyweight::guardrails
