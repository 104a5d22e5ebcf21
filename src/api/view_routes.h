// Saved views: pages that somebody keeps, and shows to others.
#pragma once

#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

server::Response get_views(const Parts& parts, const server::Request& request);
server::Response add_view(const Parts& parts, const server::Request& request);
server::Response remove_view(const Parts& parts, const server::Request& request);

}  // namespace pennyweight::api
