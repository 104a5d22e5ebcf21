// The paths of files that belong to a ledger but are not part of it.
#pragma once

#include <string>

#include "config/config.h"

namespace pennyweight {

// The folder of `serve`: its journal, accounts and first password.
std::string live_folder(const Config& config);
// The token that programs on this machine use if no serve.token_file names others.
std::string machine_token_path(const Config& config);
// The file of users, sessions and tokens.
std::string accounts_path(const Config& config);
// The budgets that people set, and their versions.
std::string budget_book_path(const Config& config);
// What people write beside the costs of some days.
std::string annotation_book_path(const Config& config);
// What people say of unusual days.
std::string anomaly_book_path(const Config& config);
// What people know of days to come, with its versions.
std::string event_book_path(const Config& config);
// Requests for approvals and what was decided, and the key of their tokens.
std::string approval_book_path(const Config& config);
std::string approval_key_path(const Config& config);
// The notices of limits that stop work which runs.
std::string stop_notices_path(const Config& config);
// The forecasts that `serve` made, kept to be scored.
std::string forecast_book_path(const Config& config);
// The audit log: "<store.path>.audit".
std::string audit_log_path(const Config& config);

}  // namespace pennyweight
