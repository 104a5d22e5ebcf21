// Users and roles, for who manages them.
#pragma once

#include <string>

#include "access/accounts.h"
#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

// As JSON: what the API shows of a user, and what the audit log keeps.
std::string user_text(const access::User& user);

server::Response get_users(const Parts& parts, const server::Request& request);
server::Response add_user(const Parts& parts, const server::Request& request);
server::Response get_user(const Parts& parts, const server::Request& request);
server::Response change_user(const Parts& parts, const server::Request& request);
server::Response remove_user(const Parts& parts, const server::Request& request);
server::Response reset_password(const Parts& parts, const server::Request& request);

server::Response get_roles(const server::Request& request);

}  // namespace pennyweight::api
