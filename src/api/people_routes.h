// The routes about people: signing in, users, tokens, roles, the audit log, saved views.
#pragma once

#include <vector>

#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

std::vector<server::Route> people_routes(const Parts& parts);

}  // namespace pennyweight::api
