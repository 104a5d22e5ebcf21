// Users as JSON.
#pragma once

#include <string>

#include "server/access/accounts.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// A user as shown by the API and recorded in the audit log.
std::string user_text(const access::User& user);

}  // namespace pennyweight::api
