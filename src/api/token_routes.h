// API tokens: one's own, and for who manages users those of others.
#pragma once

#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

server::Response get_tokens(const Parts& parts, const server::Request& request);
server::Response add_token(const Parts& parts, const server::Request& request);
server::Response revoke_token(const Parts& parts, const server::Request& request);

}  // namespace pennyweight::api
