// ApproverTurn: who is asked to decide on a request, and since when.
//
// As many approvers as it takes are asked at once, in the order of the configuration, and one more
// each time that a request has waited for the time of an escalation. Whoever may not decide on it
// is left out: who asked for it, whose limit is lower, who has approved it already, whose account
// may not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/instant.h"
#include "insight/guardrails/approval.h"

namespace pennyweight::guardrails {

struct ApproverTurn {
  std::string who;       // as the configuration has it; empty: whoever has the permission
  std::string delegate;  // who decides in their place today; empty: nobody
  Instant since;
  bool is_escalated = false;    // not asked at once
  bool nobody_is_left = false;  // no approver, or no other one, may decide on it
  bool operator==(const ApproverTurn&) const = default;
};

// Whether an approver of the configuration can decide on a request, but for what the terms say:
// false where they have an account here that may not.
using ApproverCheck = std::function<bool(const std::string& who, const ApprovalRequest& request)>;

// By their order; empty where the request waits for nobody. Whoever can't decide is left out,
// unless a delegate decides in their place today. `can_decide`: empty where all can.
std::vector<ApproverTurn> approver_turns(const Approval& approval, const ApprovalTerms& terms,
                                         Instant now, const ApproverCheck& can_decide = {});

}  // namespace pennyweight::guardrails
