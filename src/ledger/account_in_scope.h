// How the scopes of deliveries name an account (ledger/delivery.h).
#pragma once

#include <string>
#include <string_view>

#include "ledger/charge.h"

namespace pennyweight {

inline constexpr std::string_view kAzureCloud = "Azure";  // of cloud_of()

// An account or sub account of a cloud as scopes name it. Azure's ids are the same in capitals and
// in small letters, and its exports write both.
std::string account_in_scope(const std::string& account, std::string_view cloud);
// account_scope() in a statement of an import, spelled so: earlier programs left Azure's ids in the
// letters of their files.
std::string account_scope_of_statement(const std::string& scope, std::string_view cloud);
// An account or sub account of the charge's cloud.
std::string account_in_scope(const Charge& charge, const std::string& account);

}  // namespace pennyweight
