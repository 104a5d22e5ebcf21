// Users as JSON.
#pragma once

#include <string>

#include "server/access/accounts.h"
#include "server/api/recorded_change.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// A user as shown by the API and recorded in the audit log.
std::string user_text(const access::User& user);

// A change of a user, with the user before and after it.
RecordedChange user_change(const Services& services, const Author& author, std::string_view action);
// The same, without the user's properties: they stay as they are.
RecordedChange user_event(const Services& services, const Author& author, std::string_view action,
                          std::string facts = "");

}  // namespace pennyweight::api
