#include "insight/advice/life.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/enum_names.h"

namespace pennyweight::advising {
namespace {

constexpr EnumNames kAdviceStates = enum_names<AdviceState>({
    {AdviceState::kNew, "new"},
    {AdviceState::kAccepted, "accepted"},
    {AdviceState::kDismissed, "dismissed"},
    {AdviceState::kDone, "done"},
    {AdviceState::kVerified, "verified"},
});

AdviceState state_after(const AdviceStep& step, Date today) {
  switch (step.action) {
    case AdviceAction::kAccept:
      return AdviceState::kAccepted;
    case AdviceAction::kDismiss:
      return step.day && *step.day <= today ? AdviceState::kNew : AdviceState::kDismissed;
    case AdviceAction::kDone:
      return AdviceState::kDone;
    case AdviceAction::kVerify:
      return AdviceState::kVerified;
    case AdviceAction::kReopen:
      return AdviceState::kNew;
  }
  CHECK(false, "every action is listed");
}

Result<void> needs_state(bool holds, const AdviceLife& life, const AdviceStep& step,
                         std::string_view remedy) {
  if (holds) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("advice {} is {}, so it can't be {}: {}", step.advice, to_text(life.state),
                  step.action == AdviceAction::kAccept    ? "accepted"
                  : step.action == AdviceAction::kDismiss ? "dismissed"
                  : step.action == AdviceAction::kDone    ? "reported as done"
                  : step.action == AdviceAction::kVerify  ? "verified"
                                                          : "opened again",
                  remedy));
}

}  // namespace

std::string_view to_text(AdviceState state) { return kAdviceStates.name(state); }

const AdviceStep* AdviceLife::done() const {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->action == AdviceAction::kDone) return &*step;
    if (step->action == AdviceAction::kReopen) return nullptr;
  }
  return nullptr;
}

std::map<std::string, AdviceLife> lives_of(std::span<const AdviceStep> steps, Date today) {
  std::map<std::string, AdviceLife> lives;
  for (const AdviceStep& step : steps) {
    AdviceLife& life = lives[step.advice];
    life.steps.push_back(step);
    life.state = state_after(step, today);
  }
  return lives;
}

Result<void> check_step(const AdviceLife& life, const AdviceStep& step, Date today) {
  const AdviceState state = life.state;
  const bool is_open = state == AdviceState::kNew || state == AdviceState::kDismissed;
  switch (step.action) {
    case AdviceAction::kAccept:
      return needs_state(is_open, life, step, "it is decided already; reopen it first");
    case AdviceAction::kDismiss:
      if (step.reason.empty()) {
        return fail(ErrorCode::kBadValue,
                    "a dismissal needs a reason: why it will not be followed");
      }
      if (step.day && *step.day <= today) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("it can't be dismissed until {}, which is not after today, {}",
                                pennyweight::to_text(*step.day), pennyweight::to_text(today)));
      }
      return needs_state(is_open || state == AdviceState::kAccepted, life, step,
                         "it was followed; reopen it first");
    case AdviceAction::kDone:
      if (!step.day)
        return fail(ErrorCode::kBadValue, "the day since when it is in effect is missing");
      if (*step.day > today) {
        return fail(ErrorCode::kBadValue,
                    fmt::format("it can't be in effect since {}, which is after today, {}",
                                pennyweight::to_text(*step.day), pennyweight::to_text(today)));
      }
      return needs_state(state != AdviceState::kVerified, life, step,
                         "it was compared already; reopen it first");
    case AdviceAction::kVerify:
      return needs_state(state == AdviceState::kDone || state == AdviceState::kVerified, life, step,
                         "say first since when it is in effect");
    case AdviceAction::kReopen:
      return needs_state(state != AdviceState::kNew, life, step, "nothing is decided");
  }
  CHECK(false, "every action is listed");
}

AdviceStep step_about(const Proposal& proposal, AdviceAction action, std::string month) {
  AdviceStep step;
  step.advice = proposal.id;
  step.action = action;
  step.month = std::move(month);
  step.kind = to_text(proposal.kind);
  step.cluster = proposal.cluster.text();
  step.subject = proposal.subject;
  step.change = proposal.change;
  step.workload = proposal.workload.text();
  step.work = proposal.looked_for;
  step.low = proposal.monthly.low;
  step.expected = proposal.monthly.expected;
  step.high = proposal.monthly.high;
  step.owner = proposal.owner;
  return step;
}

AdviceStep step_after(const AdviceStep& earlier, AdviceAction action) {
  AdviceStep step = earlier;
  step.action = action;
  step.at = {};
  step.by.clear();
  step.reason.clear();
  step.day.reset();
  step.realised.reset();
  step.findings.clear();
  return step;
}

}  // namespace pennyweight::advising
