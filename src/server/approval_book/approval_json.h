// Approvals as JSON: the lines of their book, and what the API says about a request.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/guardrails/approval.h"

namespace pennyweight {

// An object on one line.
std::string request_event(const guardrails::ApprovalRequest& request);
std::string decision_event(std::string_view id, const guardrails::ApprovalDecision& decision);
std::string use_event(std::string_view id, const guardrails::ApprovalUse& use);

// Adds what a line says to those that are known. An Error: it is no such line, or about a request
// that is not known.
Result<void> apply_event(std::string_view line, std::vector<guardrails::Approval>& approvals,
                         std::map<std::string, std::size_t, std::less<>>& by_id);

// The members of a request, without braces: "id": …, "workload": ….
std::string request_members(const guardrails::ApprovalRequest& request);

}  // namespace pennyweight
