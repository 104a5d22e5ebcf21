// The alert rules about requests for approvals: who is asked to decide.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/approver_turns.h"

namespace pennyweight {

// Of more requests than that, the oldest are told of, and how many others there are.
inline constexpr std::size_t kApprovalsToldMax = 200;

// approval_pending: an approver is asked to decide. approval_escalated (critical): one more is,
// since nobody has decided in time, or there is nobody who may. The owner of both is the approver.
std::vector<AlertCondition> approval_conditions(std::span<const guardrails::Approval> approvals,
                                                const guardrails::ApprovalTerms& terms, Instant now,
                                                const guardrails::ApproverCheck& can_decide = {});

}  // namespace pennyweight
