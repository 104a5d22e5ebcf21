// The page behind the link that an approver is sent: it shows a request, and decides on it; and
// what approvers' accounts have to say of it.
//
// It needs no session: the link itself, which is signed, says who decides on what, until when.
// Opening it decides nothing, since programs that scan mail open links too; the page's form does.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/approver_turns.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// Whether an approver may decide on a request by a link: they have an account here, which is not
// disabled, has the permission to approve, and has no scope that leaves the request out. So whoever
// takes the permission away takes the links with it.
Result<void> check_link_account(const Services& services, const std::string& approver,
                                const guardrails::ApprovalRequest& request);

// Whether approvers' accounts, as they are now, let them decide. Whoever has none may get one at
// their first sign-in, so they can. All can where the accounts can't be read. `services` outlives
// it.
guardrails::ApproverCheck approver_check(const Services& services);

// GET and POST /approve/{link}.
std::vector<server::Route> approval_link_routes(const Services& services);

}  // namespace pennyweight::api
