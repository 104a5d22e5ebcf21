// Guard: who may ask what. The one place where it is decided, for the API, the pages, exports and
// events alike; what a scope cuts out of an answer is decided by the desk.
//
// Deny by default. A request passes if its route is open, or if somebody is known by his session's
// cookie or his token, may do what the route needs, is not bound to a scope where that is refused,
// and, with a cookie, proves by X-CSRF-Token that the page that asks is ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "access/principal.h"
#include "api/parts.h"
#include "api/rate_limit.h"
#include "server/server.h"

namespace pennyweight::api {

// What a route needs that anybody may do who is signed in.
inline constexpr std::string_view kSignedIn = "signed_in";

// What can't be cut to a scope: refused to who is bound to one, whatever his role.
bool is_refused_to_scoped(access::Permission permission);

// All of it: the role, the token's limits, the scope.
bool may_here(const access::Principal& who, access::Permission permission);

// As configured under serve.limits.
struct GuardLimits {
  Rate principal{.per_second = 200, .burst = 1000};
  // Of an address: what is open, and what is asked without a session or token that is known.
  Rate address{.per_second = 100, .burst = 1000};
};

server::Guard guard(const Parts& parts, const GuardLimits& limits = {});

// Whether who was let in would be let in again, as the same: for answers that last. The accounts
// are asked each time, so that a token that was revoked, a user who was disabled or changed and a
// session that ended count at once, whichever process did it. Used by one thread at a time.
class StillIn {
 public:
  // REQUIRES: the guard has let the request through because of this permission. `parts` outlives
  // it.
  StillIn(const Parts& parts, const server::Request& request, access::Permission permission);
  // False also where the accounts can't be asked.
  bool ask() const;

 private:
  const Parts& parts_;
  server::Request request_;  // what of it says who asks
  access::Principal who_;
  access::Permission permission_;
};

// The name of the session's cookie: the prefix of it has browsers hold it to our host, and to TLS.
std::string_view session_cookie(bool secure);
// The session's secret that the request bears; empty: none.
std::string session_secret(const server::Request& request);

// Who asks, as far as anybody knows; for routes that are open. An Error says that the accounts
// can't be asked.
Result<std::optional<access::Principal>> who_asks(const Parts& parts,
                                                  const server::Request& request);

}  // namespace pennyweight::api
