#include "server/api/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "config/config.h"
#include "core/crypto/secret.h"
#include "server/access/accounts.h"
#include "server/access/lock_out.h"
#include "server/access/secrets.h"
#include "server/api/answers.h"
#include "server/api/machine_clients.h"
#include "server/api/route_helpers.h"

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

// Users who must change their password can only do that, and sign out.
bool is_of_session(const std::string& path) {
  return path == kSessionPath || path.starts_with(std::string(kSessionPath) + "/");
}

Response too_many(std::chrono::seconds wait) {
  Response response =
      problem(429, "Too many requests", "Wait for the seconds in Retry-After, then try again.");
  response.retry_after = wait;
  return response;
}

Response not_signed_in(const Route& route, const Request& request) {
  std::string detail = request.header("authorization").empty()
                           ? "Sign in, or send a token as Authorization: Bearer."
                           : "This token is unknown, expired or revoked.";
  if (route.permission == access::to_text(Permission::kSendTelemetry) ||
      route.permission == access::to_text(Permission::kReadMetrics)) {
    detail += " Telemetry senders use a token of serve.token_file, or the file machine-token.";
  }
  return problem(401, "Unauthorized", detail);
}

Response forbidden(std::string_view detail) { return problem(403, "Forbidden", detail); }

// A user may have the same name as a machine client.
std::string rate_limit_key(const Principal& who) {
  return who.session.empty() ? who.name + " without an account" : who.name;
}

// The token in "Authorization: Bearer …"; "" for another scheme. Nothing: no such header.
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
      (who.csrf.empty() || !is_same_secret(request.header("x-csrf-token"), who.csrf))) {
    return forbidden("X-CSRF-Token is missing or does not belong to the session.");
  }
  if (who.must_change_password && !is_of_session(route.path)) {
    return forbidden("Change the one-time password first: PUT /api/v1/session/password.");
  }
  // A machine client has neither a session nor a user's token.
  if (route.permission == kSignedIn && !who.session.empty()) return std::nullopt;
  const auto needed = access::parse_permission(route.permission);
  if (!needed) return forbidden("This endpoint has no valid permission.");
  if (may_access(who, *needed)) return std::nullopt;
  return forbidden(fmt::format("This needs {}, which {}.", route.permission,
                               access::may(who, *needed) ? "is denied to users with a scope"
                                                         : "your role or token does not have"));
}

// A request with unknown credentials never counts as a machine client without credentials.
std::optional<Principal> machine_that_asks(const Services& services, const Request& request) {
  const auto token = bearer_of(request);
  const bool shows_nothing_known = token ? token->empty() : !session_secret(request).empty();
  if (shows_nothing_known) return std::nullopt;
  return find_machine_client(services.machine_clients, request, token.value_or(""));
}

// The principal: a user, a token, or a machine client.
Result<std::optional<Principal>> known_asker(const Services& services, const Request& request) {
  auto who = find_principal(services, request);
  if (who && !*who) *who = machine_that_asks(services, request);
  return who;
}

std::optional<Response> pass(const Services& services, Buckets& buckets, const Route& route,
                             Request& request) {
  const auto take_of_address = [&]() -> std::optional<Response> {
    const auto wait =
        buckets.address.take(access::address_group(request.peer), services.clock.now());
    return wait ? std::optional(too_many(*wait)) : std::nullopt;
  };
  if (route.open) return take_of_address();
  auto who = known_asker(services, request);
  if (!who) return refusal(who.error());
  if (!*who) {
    if (auto full = take_of_address()) return full;
    return not_signed_in(route, request);
  }
  // Not for telemetry: Prometheus discards samples that are answered with 429.
  if (route.permission != access::to_text(Permission::kSendTelemetry)) {
    if (const auto wait = buckets.principal.take(rate_limit_key(**who), services.clock.now())) {
      return too_many(*wait);
    }
  }
  if (auto refused = refuse(route, request, **who)) return refused;
  request.principal_key = rate_limit_key(**who);
  request.principal = *std::move(*who);
  return std::nullopt;
}

}  // namespace

bool is_denied_to_scoped(Permission permission) {
  switch (permission) {
    case Permission::kReadBills:
    case Permission::kReadRules:
    case Permission::kReadAudit:
    case Permission::kManageUsers:
    case Permission::kClosePeriods:
    case Permission::kIssueInvoices:
    case Permission::kReadMetrics:
    case Permission::kManageAlerts:
    case Permission::kSendTelemetry:
    case Permission::kImportFiles:
      return true;
    case Permission::kApprove:       // requests of the own scope
    case Permission::kDecideAdvice:  // about what the scope shows
    case Permission::kReadCosts:
    case Permission::kReadLive:
    case Permission::kReadFleet:
    case Permission::kReadInvoices:
    case Permission::kReadStatements:
    case Permission::kManageOwn:
    case Permission::kManageBudgets:
      return false;
  }
  return true;
}

bool may_access(const Principal& who, Permission permission) {
  return access::may(who, permission) && !(who.is_scoped() && is_denied_to_scoped(permission));
}

bool may_grant(const Principal& who, access::Role role) {
  if (who.by != access::SignedInBy::kToken) return true;
  if (role == access::Role::kAdmin) return false;
  return std::ranges::all_of(access::kPermissions, [&](Permission permission) {
    return !access::allows(role, permission) || access::may(who, permission);
  });
}

std::optional<Response> refuse_token(const Request& request) {
  if (principal_of(request).by != access::SignedInBy::kToken) return std::nullopt;
  return forbidden("A token can't do this; sign in.");
}

std::optional<Response> refuse_stale(const Services& services, const Request& request,
                                     std::string_view permission) {
  const Principal& who = principal_of(request);
  if (who.by == access::SignedInBy::kToken) {
    const auto needed = access::parse_permission(permission);
    if (needed && who.only && std::ranges::count(*who.only, *needed) > 0) return std::nullopt;
    return forbidden(fmt::format(
        "This needs a fresh sign-in, or a token that names {} among its permissions.", permission));
  }
  const auto fresh = std::chrono::milliseconds(services.config.live.serve.fresh_sign_in_ms);
  if (who.proved_at && services.clock.now() - *who.proved_at < fresh) return std::nullopt;
  JsonWriter out;
  out.begin_object()
      .field("type", "about:blank")
      .field("title", "Forbidden")
      .field("status", 403)
      .field("detail",
             fmt::format("This needs a sign-in of the last {} minutes: confirm it with POST "
                         "/api/v1/session/confirm, or sign in again.",
                         std::chrono::duration_cast<std::chrono::minutes>(fresh).count()))
      .field("needs", "fresh_sign_in")
      .field("by", who.by == access::SignedInBy::kOpenId ? "openid" : "password")
      .end_object();
  Response response = json(out, 403);
  response.content_type = "application/problem+json";
  return response;
}

SessionRevalidator::SessionRevalidator(const Services& services, const Request& request,
                                       Permission permission)
    : services_(services),
      who_(std::any_cast<const Principal&>(request.principal)),
      permission_(permission) {
  request_.peer = request.peer;
  request_.secure = request.secure;
  request_.headers = request.headers;
  request_.cookies = request.cookies;
}

bool SessionRevalidator::is_still_valid() const {
  const auto found = known_asker(services_, request_);
  if (!found || !*found) return false;
  const Principal& now = **found;
  return now.name == who_.name && now.session == who_.session && now.role == who_.role &&
         now.only == who_.only && access::covers(now.scope, who_.scope) &&
         access::covers(who_.scope, now.scope) && may_access(now, permission_);
}

std::string_view session_cookie(bool secure) {
  return secure ? "__Host-pennyweight" : "pennyweight";
}

std::string session_secret(const Request& request) {
  const auto found = request.cookies.find(std::string(session_cookie(request.secure)));
  return found == request.cookies.end() ? "" : found->second;
}

Result<std::optional<Principal>> find_principal(const Services& services, const Request& request) {
  // A request with a token uses that alone; its cookies are ignored.
  if (const auto token = bearer_of(request)) return services.accounts.bearer(*token);
  const std::string secret = session_secret(request);
  if (secret.empty()) return find_machine_client(services.machine_clients, request, "");
  return services.accounts.session(secret);
}

server::Guard guard(const Services& services, const GuardLimits& limits) {
  const auto buckets = std::make_shared<Buckets>(limits);
  return [services, buckets](const Route& route, Request& request) {
    return pass(services, *buckets, route, request);
  };
}

}  // namespace pennyweight::api
