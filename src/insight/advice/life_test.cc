#include "insight/advice/life.h"

#include <gtest/gtest.h>

#include <optional>

namespace pennyweight::advising {
namespace {

using enum AdviceAction;

const Date kToday = *parse_date("2026-05-10");

AdviceStep step(AdviceAction action, std::optional<Date> day = {}, std::string reason = "why") {
  AdviceStep made;
  made.advice = "8f9957ca687c";
  made.action = action;
  made.reason = std::move(reason);
  made.day = day;
  return made;
}

AdviceLife life_after(std::vector<AdviceStep> steps) {
  return lives_of(steps, kToday)["8f9957ca687c"];
}

TEST(AdviceLife, TheLastStepSaysTheState) {
  struct Case {
    std::vector<AdviceStep> steps;
    AdviceState state;
  };
  const std::vector<Case> cases = {
      {{}, AdviceState::kNew},
      {{step(kAccept)}, AdviceState::kAccepted},
      {{step(kDismiss)}, AdviceState::kDismissed},
      {{step(kDismiss, kToday + std::chrono::days(1))}, AdviceState::kDismissed},
      {{step(kDismiss, kToday)}, AdviceState::kNew},
      {{step(kAccept), step(kDone, kToday)}, AdviceState::kDone},
      {{step(kDone, kToday), step(kVerify)}, AdviceState::kVerified},
      {{step(kDone, kToday), step(kReopen)}, AdviceState::kNew},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(life_after(one.steps).state, one.state) << to_text(one.state);
  }
}

TEST(AdviceLife, OnlyWhatFollowsIsTaken) {
  const Date tomorrow = kToday + std::chrono::days(1);
  struct Case {
    std::vector<AdviceStep> before;
    AdviceStep next;
    std::optional<ErrorCode> refused;
  };
  const std::vector<Case> cases = {
      {{}, step(kAccept), {}},
      {{}, step(kDismiss), {}},
      {{}, step(kDismiss, {}, ""), ErrorCode::kBadValue},
      {{}, step(kDismiss, kToday), ErrorCode::kBadValue},
      {{}, step(kDismiss, tomorrow), {}},
      {{}, step(kDone, kToday), {}},
      {{}, step(kDone), ErrorCode::kBadValue},
      {{}, step(kDone, tomorrow), ErrorCode::kBadValue},
      {{}, step(kVerify), ErrorCode::kConflict},
      {{}, step(kReopen), ErrorCode::kConflict},
      {{step(kAccept)}, step(kAccept), ErrorCode::kConflict},
      {{step(kAccept)}, step(kDismiss), {}},
      {{step(kAccept)}, step(kVerify), ErrorCode::kConflict},
      {{step(kDismiss)}, step(kAccept), {}},
      {{step(kDone, kToday)}, step(kAccept), ErrorCode::kConflict},
      {{step(kDone, kToday)}, step(kDismiss), ErrorCode::kConflict},
      {{step(kDone, kToday)}, step(kDone, kToday), {}},
      {{step(kDone, kToday)}, step(kVerify), {}},
      {{step(kDone, kToday), step(kVerify)}, step(kVerify), {}},
      {{step(kDone, kToday), step(kVerify)}, step(kDone, kToday), ErrorCode::kConflict},
      {{step(kDone, kToday), step(kVerify)}, step(kReopen), {}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Result<void> done = check_step(life_after(cases[i].before), cases[i].next, kToday);
    EXPECT_EQ(done ? std::optional<ErrorCode>() : done.error().code, cases[i].refused) << i;
  }
}

TEST(AdviceLife, SinceWhenItIsInEffectIsForgottenWhenItIsReopened) {
  EXPECT_EQ(life_after({step(kDone, kToday), step(kVerify)}).done()->day, kToday);
  EXPECT_EQ(life_after({step(kDone, kToday), step(kReopen)}).done(), nullptr);
  EXPECT_EQ(life_after({step(kDone, kToday), step(kReopen), step(kAccept)}).done(), nullptr);
}

}  // namespace
}  // namespace pennyweight::advising
