// How the scopes of deliveries name an account (ledger/delivery.h).
#pragma once

#include <string>
#include <string_view>

#include "ledger/charge.h"

namespace pennyweight {

inline constexpr std::string_view kAzureCloud = "Azure";  // of cloud_of()

// An account or sub account of a charge as scopes name it. Azure's ids are the same in capitals and
// in small letters, and its exports write both.
std::string account_in_scope(const Charge& charge, const std::string& account);

}  // namespace pennyweight
