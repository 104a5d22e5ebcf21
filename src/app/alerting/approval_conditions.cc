#include "app/alerting/approval_conditions.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "core/plain_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using guardrails::Approval;
using guardrails::ApproverTurn;

constexpr std::size_t kToldTextMax = 300;

// "ana asks for Job ml/train, which costs 65.60 USD a run: the yearly run"
std::string asked_text(const guardrails::ApprovalRequest& request) {
  std::string text = fmt::format("{} asks for {}, ", printable_text(request.by, kToldTextMax),
                                 printable_text(request.workload, kToldTextMax));
  text += request.cost
              ? fmt::format("which costs {} {} a {}",
                            format_rounded(request.cost->amount(), 2, Thousands::kSeparated),
                            request.cost->currency().text(), request.cost_of)
              : std::string("of which the cost is not known");
  if (!request.reason.empty()) text += ": " + printable_text(request.reason, kToldTextMax);
  return text;
}

AlertCondition condition_of(const Approval& approval, const ApproverTurn& turn, Instant end) {
  const guardrails::ApprovalRequest& request = approval.request;
  const std::string since = pennyweight::to_text(request.at);
  std::string asked = "somebody with the permission approve is asked";
  if (!turn.who.empty()) asked = turn.who + " is asked";
  if (!turn.delegate.empty()) asked += fmt::format(", or {} in their place", turn.delegate);
  if (turn.nobody_is_left) {
    asked = turn.since == request.at
                ? "guardrails.approvals.approvers has too few who may approve it"
                : "everybody who may approve it has been asked";
  }
  return {.rule = turn.is_escalated ? "approval_escalated" : "approval_pending",
          .scope = fmt::format("{} {}", request.id, turn.who.empty() ? "(anybody)" : turn.who),
          .subject = request.id,
          .severity = turn.is_escalated ? AlertSeverity::kCritical : AlertSeverity::kWarning,
          .owner = turn.who,
          .summary =
              fmt::format("{} waits for a decision since {} and expires at {}: {}. {}", request.id,
                          since, pennyweight::to_text(end), asked_text(request), asked),
          .keep = std::chrono::milliseconds(0)};
}

}  // namespace

std::vector<AlertCondition> approval_conditions(std::span<const Approval> approvals,
                                                const guardrails::ApprovalTerms& terms, Instant now,
                                                const guardrails::ApproverCheck& can_decide) {
  std::vector<AlertCondition> conditions;
  std::size_t told = 0;
  std::size_t others = 0;
  for (const Approval& approval : approvals) {
    const auto turns = guardrails::approver_turns(approval, terms, now, can_decide);
    if (turns.empty()) continue;
    if (++told > kApprovalsToldMax) {
      ++others;
      continue;
    }
    const Instant end = approval.request.at + std::chrono::milliseconds(terms.pending_ms);
    for (const ApproverTurn& turn : turns) {
      conditions.push_back(condition_of(approval, turn, end));
    }
  }
  if (others > 0) {
    conditions.push_back(
        {.rule = "approval_pending",
         .scope = "(others)",
         .summary =
             fmt::format("besides, {} wait for a decision; 'pennyweight approvals list' shows them",
                         counted(others, "request")),
         .keep = std::chrono::milliseconds(0)});
  }
  return conditions;
}

}  // namespace pennyweight
