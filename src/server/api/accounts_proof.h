// Proves the accounts by the audit log: what the log's entries say about each user and token must
// be what the accounts hold, so that a user, a role or a token that came about without an entry is
// found.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "server/access/accounts.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {

// Actions of entries that let a difference be known, so that it counts as recorded.
inline constexpr std::string_view kUserFoundAction = "user.found";
inline constexpr std::string_view kUserLostAction = "user.lost";
inline constexpr std::string_view kTokenFoundAction = "token.found";

// Something of the accounts that no entry accounts for, or the other way round.
struct AccountsDifference {
  std::string text;         // a sentence for people
  audit_log::Entry record;  // lets it be known: action, subject, after
};

// Compares the accounts with the log at `path`, which may grow meanwhile. Secrets, sessions, views
// and last uses are not compared.
Result<std::vector<AccountsDifference>> compare_accounts_with_log(access::Accounts& accounts,
                                                                  const std::string& path);

}  // namespace pennyweight::api
