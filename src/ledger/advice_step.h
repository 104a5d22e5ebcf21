// AdviceStep: what somebody decided about an advice, or what was found of it afterwards.
//
// It is kept in the ledger as an import without facts, whose statement holds the step as a record
// of the kind "advice". So it is written all or nothing, in the order of decisions, it moves and is
// backed up with the ledger, and every store has it. A step is never changed; a later one counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/label.h"
#include "core/money.h"

namespace pennyweight {

// The format of the imports that carry steps.
inline constexpr std::string_view kAdviceStepFormat = "advice";

enum class AdviceAction {
  kAccept,   // somebody will follow it
  kDismiss,  // nobody will, for a reason, perhaps until a day
  kDone,     // it was followed, in effect since a day
  kVerify,   // the ledger was compared before and after
  kReopen,   // as if nothing had been decided
};
std::string_view to_text(AdviceAction action);  // "accept", "dismiss", …
std::optional<AdviceAction> parse_advice_action(std::string_view text);

struct AdviceStep {
  std::string advice;  // its id, in full
  AdviceAction action = AdviceAction::kAccept;
  Instant at;
  std::string by;
  std::string reason;
  // kDismiss: the first day on which it is shown again; nothing: never. kDone: the day since which
  // it is in effect. kVerify: the last day that was compared.
  std::optional<Date> day;

  // What the advice said then, so that it can be read when it is no longer given.
  std::string month;  // of the ledger that it was learned from
  std::string kind;
  std::string cluster;
  std::string subject;
  std::string change;
  std::string workload;  // the single one that it is about; "(several)"; empty: the fleet
  std::string work;      // whose cost it lowers, as advising::Proposal::looked_for
  Money low = Money::zero(kUsd), expected = Money::zero(kUsd), high = Money::zero(kUsd);
  Labels owner;  // dimensions of the workload

  // Of kVerify: what a month costs less for the same work; negative: it costs more.
  std::optional<Money> realised;
  std::vector<std::string> findings;  // how that was worked out, in sentences
  bool operator==(const AdviceStep&) const = default;
};

// The statement of the import that carries the step.
std::string to_text(const AdviceStep& step);
// The step of a statement; nothing where it has none. An Error: the record is not complete.
Result<std::optional<AdviceStep>> parse_advice_step(std::string_view statement);

}  // namespace pennyweight
