// Guard: authenticates and authorises every request, for the API, exports and events alike.
// ScopedQueries then limits the answers to the user's scope.
//
// Deny by default. A request passes if its route is open. Otherwise the session cookie or the token
// must be valid, the principal must have the route's permission, it must not have a scope if the
// permission is denied to scoped users, and a request with a cookie must prove by X-CSRF-Token that
// it comes from our own pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/access/principal.h"
#include "server/api/rate_limit.h"
#include "server/api/services.h"
#include "server/server.h"

namespace pennyweight::api {

// The permission of routes that every signed-in user may call.
inline constexpr std::string_view kSignedIn = "signed_in";

// Whether answers can't be limited to a scope: such endpoints are denied to scoped users of any
// role.
bool is_denied_to_scoped(access::Permission permission);

// Whether role, token and scope all allow it.
bool may_access(const access::Principal& who, access::Permission permission);

// Whether the principal may give somebody this role, or take it: sessions that manage users may
// give any, tokens only roles all of whose permissions they have, and never that of an admin.
bool may_grant(const access::Principal& who, access::Role role);

// The answer to tokens where only people who are signed in may go on.
std::optional<server::Response> refuse_token(const server::Request& request);

// The answer where a fresh sign-in is needed and this one is too old. Tokens are answered too,
// unless they name the permission: they were made for this then, by somebody with a fresh sign-in.
std::optional<server::Response> refuse_stale(const Services& services,
                                             const server::Request& request,
                                             std::string_view permission);

// As configured under serve.limits.
struct GuardLimits {
  Rate principal{.per_second = 200, .burst = 1000};
  // By address: open routes, and requests without a valid session or token.
  Rate address{.per_second = 100, .burst = 1000};
};

server::Guard guard(const Services& services, const GuardLimits& limits = {});

// Re-checks a session during a long response. It asks the accounts each time, so that a revoked
// token, an ended session, and a disabled or changed user take effect at once, whichever process
// made the change. Used by one thread at a time.
class SessionRevalidator {
 public:
  // REQUIRES: the guard has accepted the request with this permission; `services` outlives this.
  SessionRevalidator(const Services& services, const server::Request& request,
                     access::Permission permission);
  // False once the request would be refused, or come from another principal, and if the accounts
  // can't be read.
  bool is_still_valid() const;

 private:
  const Services& services_;
  server::Request request_;  // the parts that authenticate it
  access::Principal who_;
  access::Permission permission_;
};

// The name of the session cookie. With TLS its prefix makes browsers bind it to this host and to
// TLS.
std::string_view session_cookie(bool secure);
// The session secret in the request; empty: none.
std::string session_secret(const server::Request& request);

// The principal of a request, if any; for open routes. An Error: the accounts can't be read.
Result<std::optional<access::Principal>> find_principal(const Services& services,
                                                        const server::Request& request);

}  // namespace pennyweight::api
