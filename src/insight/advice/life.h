// The life of an advice: new, accepted, dismissed, done, verified; from the steps in the ledger.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "insight/advice/proposal.h"
#include "ledger/advice_step.h"

namespace pennyweight::advising {

enum class AdviceState { kNew, kAccepted, kDismissed, kDone, kVerified };
std::string_view to_text(AdviceState state);  // "new", "accepted", …

struct AdviceLife {
  std::vector<AdviceStep> steps;  // in the order in which they were decided
  AdviceState state = AdviceState::kNew;
  // The last step that decided the state; null where it is new.
  const AdviceStep* last() const { return steps.empty() ? nullptr : &steps.back(); }
  // The step that said since when it is in effect; null where none does.
  const AdviceStep* done() const;
};

// The lives by advice. `today`: a dismissal until this day or earlier is over.
std::map<std::string, AdviceLife> lives_of(std::span<const AdviceStep> steps, Date today);

// Whether the step may be made now. kConflict: not in this state; kBadValue: what it lacks.
Result<void> check_step(const AdviceLife& life, const AdviceStep& step, Date today);

// A step about a proposal, with what the proposal says.
AdviceStep step_about(const Proposal& proposal, AdviceAction action, std::string month);
// A step about what an earlier step was about, where the advice is no longer given.
AdviceStep step_after(const AdviceStep& earlier, AdviceAction action);

}  // namespace pennyweight::advising
