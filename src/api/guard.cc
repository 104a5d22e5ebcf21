#include "api/guard.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "access/accounts.h"
#include "access/lock_out.h"
#include "access/secrets.h"
#include "api/answers.h"
#include "api/machines.h"

namespace pennyweight::api {
namespace {

using access::Permission;
using access::Principal;
using server::problem;
using server::Request;
using server::Response;
using server::Route;

constexpr std::string_view kSessionPath = "/api/v1/session";

struct Buckets {
  explicit Buckets(const GuardLimits& limits)
      : principal(limits.principal), address(limits.address) {}
  RateLimit principal;
  RateLimit address;
};

bool changes_something(const std::string& method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

// Who must change his password can do that, and end his session.
bool is_of_session(const std::string& path) {
  return path == kSessionPath || path.starts_with(std::string(kSessionPath) + "/");
}

Response too_many(std::chrono::seconds wait) {
  Response response = problem(429, "Too many requests", "Ask again a little later.");
  response.retry_after = wait;
  return response;
}

Response not_signed_in(const Route& route, const Request& request) {
  std::string detail = request.header("authorization").empty()
                           ? "Sign in, or send a token as Authorization: Bearer."
                           : "This token is not known, or it is over.";
  if (route.needs == access::to_text(Permission::kSendTelemetry) ||
      route.needs == access::to_text(Permission::kReadMetrics)) {
    detail += " Machines bear one of the tokens of serve.token_file.";
  }
  return problem(401, "Unauthorized", detail);
}

Response may_not(std::string_view detail) { return problem(403, "Forbidden", detail); }

// A user may have the name that we give to machines.
std::string bucket_of(const Principal& who) {
  return who.session.empty() ? who.name + " without an account" : who.name;
}

// What stands after "Authorization: Bearer "; "" of another scheme. Nothing: no such header.
std::optional<std::string> bearer_of(const Request& request) {
  static constexpr std::string_view kBearer = "Bearer ";
  if (!request.headers.contains("authorization")) return std::nullopt;
  const std::string header = request.header("authorization");
  return header.starts_with(kBearer) ? header.substr(kBearer.size()) : "";
}

std::optional<Response> refuse(const Route& route, const Request& request, const Principal& who) {
  const bool has_cookie =
      who.by == access::SignedInBy::kPassword || who.by == access::SignedInBy::kOpenId;
  if (has_cookie && changes_something(route.method) &&
      (who.csrf.empty() || !access::same_bytes(request.header("x-csrf-token"), who.csrf))) {
    return may_not("X-CSRF-Token is missing or is not that of the session.");
  }
  if (who.must_change_password && !is_of_session(route.path)) {
    return may_not("Change the one-time password first: PUT /api/v1/session/password.");
  }
  // A machine has nobody's session and nobody's token.
  if (route.needs == kSignedIn && !who.session.empty()) return std::nullopt;
  const auto needed = access::parse_permission(route.needs);
  if (!needed) return may_not("Nobody was given leave to ask this.");
  if (may_here(who, *needed)) return std::nullopt;
  return may_not(fmt::format("This needs {}, which {}.", route.needs,
                             access::may(who, *needed) ? "is refused to who is bound to a scope"
                                                       : "the role or the token does not have"));
}

// Who has shown something that nobody knows is not taken for a machine that has nothing to show.
std::optional<Principal> machine_that_asks(const Parts& parts, const Request& request) {
  const auto token = bearer_of(request);
  const bool shows_nothing_known = token ? token->empty() : !session_secret(request).empty();
  if (shows_nothing_known) return std::nullopt;
  return machine_of(parts.machines, request, token.value_or(""));
}

// Somebody with an account, or a machine.
Result<std::optional<Principal>> known_asker(const Parts& parts, const Request& request) {
  auto who = who_asks(parts, request);
  if (who && !*who) *who = machine_that_asks(parts, request);
  return who;
}

std::optional<Response> pass(const Parts& parts, Buckets& buckets, const Route& route,
                             Request& request) {
  const auto take_of_address = [&]() -> std::optional<Response> {
    const auto wait = buckets.address.take(access::address_group(request.peer), parts.clock.now());
    return wait ? std::optional(too_many(*wait)) : std::nullopt;
  };
  if (route.open) return take_of_address();
  auto who = known_asker(parts, request);
  if (!who) return refusal(who.error());
  if (!*who) {
    if (auto full = take_of_address()) return full;
    return not_signed_in(route, request);
  }
  // Prometheus throws away what it is answered 429 to.
  if (route.needs != access::to_text(Permission::kSendTelemetry)) {
    if (const auto wait = buckets.principal.take(bucket_of(**who), parts.clock.now())) {
      return too_many(*wait);
    }
  }
  if (auto refused = refuse(route, request, **who)) return refused;
  request.who = *std::move(*who);
  return std::nullopt;
}

}  // namespace

bool is_refused_to_scoped(Permission permission) {
  switch (permission) {
    case Permission::kReadBills:
    case Permission::kReadRules:
    case Permission::kReadAudit:
    case Permission::kManageUsers:
    case Permission::kClosePeriods:
    case Permission::kIssueInvoices:
    case Permission::kReadMetrics:
    case Permission::kSendTelemetry:
      return true;
    case Permission::kReadCosts:
    case Permission::kReadLive:
    case Permission::kReadFleet:
    case Permission::kReadInvoices:
    case Permission::kManageOwn:
      return false;
  }
  return true;
}

bool may_here(const Principal& who, Permission permission) {
  return access::may(who, permission) && !(who.is_scoped() && is_refused_to_scoped(permission));
}

StillIn::StillIn(const Parts& parts, const Request& request, Permission permission)
    : parts_(parts), who_(std::any_cast<const Principal&>(request.who)), permission_(permission) {
  request_.peer = request.peer;
  request_.secure = request.secure;
  request_.headers = request.headers;
  request_.cookies = request.cookies;
}

bool StillIn::ask() const {
  const auto found = known_asker(parts_, request_);
  if (!found || !*found) return false;
  const Principal& now = **found;
  return now.name == who_.name && now.session == who_.session && now.role == who_.role &&
         now.only == who_.only && access::covers(now.scope, who_.scope) &&
         access::covers(who_.scope, now.scope) && may_here(now, permission_);
}

std::string_view session_cookie(bool secure) {
  return secure ? "__Host-pennyweight" : "pennyweight";
}

std::string session_secret(const Request& request) {
  const auto found = request.cookies.find(std::string(session_cookie(request.secure)));
  return found == request.cookies.end() ? "" : found->second;
}

Result<std::optional<Principal>> who_asks(const Parts& parts, const Request& request) {
  // Who sends a token means it: what else he bears is not looked at.
  if (const auto token = bearer_of(request)) return parts.accounts.bearer(*token);
  const std::string secret = session_secret(request);
  if (secret.empty()) return machine_of(parts.machines, request, "");
  return parts.accounts.session(secret);
}

server::Guard guard(const Parts& parts, const GuardLimits& limits) {
  const auto buckets = std::make_shared<Buckets>(limits);
  return [parts, buckets](const Route& route, Request& request) {
    return pass(parts, *buckets, route, request);
  };
}

}  // namespace pennyweight::api
