// Signing in and out, and the user's own password and second factor.
//
// A refused sign-in gets the same answer whether the user exists or not. Every refusal is recorded
// in the audit log without the typed text, which may be a password typed into the wrong field.
#pragma once

#include <string>

#include "server/access/accounts.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// A cookie that scripts can't read and that other sites' forms don't send.
std::string cookie(std::string_view name, std::string_view value, bool secure,
                   std::chrono::seconds lasts);
// The cookie of a session, valid until it ends.
std::string cookie_of(const access::SignIn& signed_in, const server::Request& request, Instant now);

}  // namespace pennyweight::api
