// What people decided about advice: read from the ledger, and written into it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "insight/advice/life.h"
#include "insight/queries/advice_query.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct AdviceDecision {
  std::string id;  // of the advice, or how it begins
  AdviceAction action = AdviceAction::kAccept;
  std::string by;
  std::string reason = {};
  std::optional<Date> day = {};  // AdviceStep::day; of kDone by default today
  Instant at;
  Date today;
};

// Whether somebody may decide about what the step is about; empty: about everything.
using MayDecide = std::function<bool(const AdviceStep&)>;

// The step that the decision makes, checked and for kVerify worked out, and not yet written. The
// advice is one of `query`'s month, or one that something was decided about before.
// Errors: kNotFound where there is none, or the caller may not see it; kConflict and kBadValue as
// check_step() and verify_advice() say.
Result<AdviceStep> prepare_advice_step(Store& store, const AdviceDecision& decision,
                                       const AdviceQuery& query, const AdviceSettings& settings,
                                       const MayDecide& may = {});
Result<void> write_advice_step(Store& store, const AdviceStep& step);

// The step as JSON, for the audit log and the API.
std::string advice_step_facts(const AdviceStep& step);

// The advice that something was decided about, the latest first.
Table advice_decisions_table(const std::map<std::string, advising::AdviceLife>& lives,
                             const std::string& team_dimension, bool is_narrowed = false);

// By team: found in the month, accepted in it, in effect since a day in it, and what all that is in
// effect by its end was found to save a month. One table a currency.
std::vector<Table> advice_progress_tables(const AdviceResult& result);

}  // namespace pennyweight
