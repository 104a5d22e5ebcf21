// The audit log: what people change is written into it, and read and proved by the API.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "access/principal.h"
#include "api/parts.h"
#include "server/server.h"
#include "trail/trail.h"

namespace pennyweight::api {

// The log's head as it is kept among the accounts, so that a log whose end was cut off is found
// out. It never goes back: what was once known of stays known, whatever is appended to a cut log.
Result<std::optional<trail::Head>> kept_head(access::Accounts& accounts);
Result<void> keep_head(access::Accounts& accounts, const trail::Head& head);

// "ana", or "token t_1a2b (ana)".
std::string actor_of(const access::Principal& who);

// Appends what was done, or refused, and keeps the log's head.
Result<void> append(const Parts& parts, trail::Entry entry);
// By who asks. `before` and `after` are JSON, or empty; never a secret.
Result<void> append(const Parts& parts, const server::Request& request, std::string_view action,
                    std::string subject, std::string before, std::string after);

server::Response get_audit(const Parts& parts, const server::Request& request);
server::Response verify_audit(const Parts& parts, const server::Request& request);

}  // namespace pennyweight::api
