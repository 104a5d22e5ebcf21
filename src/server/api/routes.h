// The routes of the API: every endpoint below /api/v1 with the permission that it needs.
#pragma once

#include <vector>

#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// REQUIRES: what `services` refers to outlives the routes, and the routes outlive streamed answers.
std::vector<server::Route> api_routes(const Services& services);

}  // namespace pennyweight::api
