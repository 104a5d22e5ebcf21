#include "insight/guardrails/approver_turns.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pennyweight::guardrails {
namespace {

std::string delegate_today(const ApproverLimit& limit, Instant now) {
  const Date today = std::chrono::floor<std::chrono::days>(now);
  const bool holds =
      limit.delegate && limit.delegate->from <= today && today <= limit.delegate->until;
  return holds ? limit.delegate->to : "";
}

// How often a request has been escalated.
std::size_t escalations(const Approval& approval, const ApprovalTerms& terms, Instant now) {
  if (!terms.escalate_ms) return 0;
  const std::int64_t waited = unix_ms(now) - unix_ms(approval.request.at);
  return waited < 0 ? 0 : static_cast<std::size_t>(waited / *terms.escalate_ms);
}

}  // namespace

std::vector<ApproverTurn> approver_turns(const Approval& approval, const ApprovalTerms& terms,
                                         Instant now, const ApproverCheck& can_decide) {
  std::vector<ApproverTurn> turns;
  if (state_of(approval, terms, now) != ApprovalState::kPending) return turns;
  const Instant asked = approval.request.at;
  const std::size_t later = escalations(approval, terms, now);
  if (terms.approvers.empty()) {
    turns.push_back({.who = "", .delegate = "", .since = asked});
    if (later == 0) return turns;
    turns.push_back({.who = "",
                     .delegate = "",
                     .since = asked + std::chrono::milliseconds(*terms.escalate_ms),
                     .is_escalated = true});
    return turns;
  }
  const std::size_t at_once = approvers_needed(approval.request, terms) - approval.decisions.size();
  for (const ApproverLimit& limit : terms.approvers) {
    if (turns.size() == at_once + later) return turns;
    // A pattern fits itself, so that it may decide what those may whom it fits.
    if (!decide(approval, {.by = limit.who, .approves = true}, terms, now)) continue;
    const std::string delegate = delegate_today(limit, now);
    const bool has_delegate = !delegate.empty();
    if (can_decide && !has_delegate && !can_decide(limit.who, approval.request)) continue;
    const bool is_escalated = turns.size() >= at_once;
    const auto rounds =
        static_cast<std::int64_t>(is_escalated ? turns.size() - at_once + 1 : std::size_t{0});
    turns.push_back(
        {.who = limit.who,
         .delegate = delegate,
         .since = asked + std::chrono::milliseconds(rounds * terms.escalate_ms.value_or(0)),
         .is_escalated = is_escalated});
  }
  if (turns.size() == at_once + later) return turns;
  // Somebody has to hear that it lies where nobody can decide on it, or where nobody does.
  const std::size_t round = turns.size() < at_once ? 0 : turns.size() - at_once + 1;
  turns.push_back({.who = "",
                   .delegate = "",
                   .since = asked + std::chrono::milliseconds(static_cast<std::int64_t>(round) *
                                                              terms.escalate_ms.value_or(0)),
                   .is_escalated = true,
                   .nobody_is_left = true});
  return turns;
}

}  // namespace pennyweight::guardrails
