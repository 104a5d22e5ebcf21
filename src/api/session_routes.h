// Signing in and out, and what a person changes about himself: password, second factor.
//
// Who is refused at sign-in is told the same whether the user exists, and every refusal is in the
// audit log, without what was typed: a password typed into the wrong field would be kept there.
#pragma once

#include <string>

#include "access/accounts.h"
#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

// A cookie that scripts can't read, and that other sites' forms don't send.
std::string cookie(std::string_view name, std::string_view value, bool secure,
                   std::chrono::seconds lasts);
// Of a session, until it ends.
std::string cookie_of(const access::SignIn& signed_in, const server::Request& request, Instant now);

server::Response get_session(const Parts& parts, const server::Request& request);
server::Response sign_in(const Parts& parts, const server::Request& request);
server::Response sign_out(const Parts& parts, const server::Request& request);
server::Response change_password(const Parts& parts, const server::Request& request);
server::Response begin_totp(const Parts& parts, const server::Request& request);
server::Response confirm_totp(const Parts& parts, const server::Request& request);
server::Response remove_totp(const Parts& parts, const server::Request& request);

// By way of the OpenID provider: to it, and back.
server::Response begin_openid(const Parts& parts, const server::Request& request);
server::Response finish_openid(const Parts& parts, const server::Request& request);

}  // namespace pennyweight::api
