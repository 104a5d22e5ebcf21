// Records what API users change in the audit log, and answers queries about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/access/principal.h"
#include "server/api/recorded_change.h"
#include "server/api/services.h"
#include "server/audit_log/audit_log.h"
#include "server/server.h"

namespace pennyweight::api {

// The log's head as stored with the accounts, so that a truncated log is found out. The stored head
// never goes back, whatever is appended to a truncated log.
Result<std::optional<audit_log::Head>> load_known_head(access::Accounts& accounts);
Result<void> save_known_head(access::Accounts& accounts, const audit_log::Head& head);
// The accounts keep the head of their last change too. An Error of kConflict if the log lacks that
// entry: the log is older than the accounts, or another one was put in its place.
Result<void> check_known_head(access::Accounts& accounts, audit_log::AuditLog& log,
                              const std::string& log_path, const std::string& accounts_path);

// How an entry of kAcceptedAction reads.
std::string accepted_text(const audit_log::Entry& entry);

// "ana", or "token t_1a2b (ana)".
std::string actor_name(const access::Principal& who);

// Appends an entry and stores the log's head.
Result<void> append(const Services& services, audit_log::Entry entry);
// Who makes the request's changes.
Author author_of(const server::Request& request);
// The same, on behalf of the request's user. `before` and `after` are JSON or empty, never a
// secret.
Result<void> append(const Services& services, const server::Request& request,
                    std::string_view action, std::string subject, std::string before,
                    std::string after);

}  // namespace pennyweight::api
