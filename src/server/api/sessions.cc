#include "server/api/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/try.h"
#include "server/access/oidc/provider.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"
#include "server/api/users.h"

namespace pennyweight::api {
namespace {

using access::Principal;
using access::Refusal;
using access::User;
using server::problem;
using server::Request;
using server::Response;

// Retry-After of a lock-out; the exact end is not revealed.
constexpr std::chrono::seconds kRetryWhenLockedOut{900};

std::string_view openid_cookie(bool secure) {
  return secure ? "__Host-pennyweight-openid" : "pennyweight-openid";
}

void write_sign_in(JsonWriter& out, const Services& services) {
  out.key("sign_in").begin_object().field("password", true).key("openid");
  if (services.oidc == nullptr) {
    out.null();
  } else {
    out.begin_object().field("name", services.oidc->name()).end_object();
  }
  out.end_object();
}

Result<std::string> session_text(const Services& services, const Principal& who) {
  const auto user = services.accounts.find_user(who.name);
  if (!user) return std::unexpected(user.error());
  JsonWriter out;
  out.begin_object()
      .key("user")
      .begin_object()
      .field("name", who.name)
      .field("display_name", who.display_name)
      .field("role", access::to_text(who.role))
      .scope("scope", who.scope)
      .field("local", *user && (*user)->local)
      .field("has_totp", *user && (*user)->has_totp)
      .end_object()
      .key("permissions")
      .begin_list();
  for (const access::Permission permission : access::kPermissions) {
    if (may_access(who, permission)) out.value(access::to_text(permission));
  }
  out.end_list()
      .field("csrf", who.csrf)
      .field("must_change_password", who.must_change_password)
      .field("version", services.version);
  write_sign_in(out, services);
  out.end_object();
  return out.text();
}

// Appends an entry by somebody who is not signed in. `user` is an existing user, or "".
Result<void> record_refusal(const Services& services, const Request& request,
                            const std::string& user, std::string_view reason) {
  JsonWriter why;
  why.begin_object().field("reason", reason).end_object();
  return append(services,
                audit_log::Entry{.at = services.clock.now(),
                                 .actor = "",
                                 .peer = request.peer,
                                 .action = "sign_in_failed",
                                 .subject = user.empty() ? "an unknown user" : "user " + user,
                                 .before = "",
                                 .after = why.text(),
                                 .hash = {}});
}

std::string_view reason_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::kWrong:
      return "wrong";
    case Refusal::kNeedsCode:
      return "needs a code";
    case Refusal::kLockedOut:
      return "locked out";
    case Refusal::kDisabled:
      return "disabled";
  }
  return "";
}

Response locked_out() {
  Response later =
      problem(429, "Too many requests", "Too many wrong passwords or codes. Wait, and try again.");
  later.retry_after = kRetryWhenLockedOut;
  return later;
}

Response answer_to(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNeedsCode: {
      JsonWriter out;
      out.begin_object()
          .field("type", "about:blank")
          .field("title", "Unauthorized")
          .field("status", 401)
          .field("detail", "Send the code of the second factor as well.")
          .field("needs", "code")
          .end_object();
      Response response = json(out, 401);
      response.content_type = "application/problem+json";
      return response;
    }
    case Refusal::kLockedOut:
      return locked_out();
    case Refusal::kWrong:
    case Refusal::kDisabled:
      break;
  }
  return problem(401, "Unauthorized", "The name, the password or the code is wrong.");
}

// Records the sign-in in the audit log, and returns the cookie.
Result<std::string> begin_session(const Services& services, const Request& request,
                                  const access::SignIn& signed_in, std::string_view by) {
  JsonWriter how;
  how.begin_object()
      .field("by", by)
      .field("session", signed_in.principal.session)
      .field("role", access::to_text(signed_in.principal.role))
      .end_object();
  const auto recorded =
      append(services, audit_log::Entry{.at = services.clock.now(),
                                        .actor = signed_in.principal.name,
                                        .peer = request.peer,
                                        .action = "sign_in",
                                        .subject = "user " + signed_in.principal.name,
                                        .before = "",
                                        .after = how.text(),
                                        .hash = {}});
  if (!recorded) {
    // No session without an entry in the log.
    auto out = services.accounts.sign_out(signed_in.secret);
    return std::unexpected(out ? recorded.error() : out.error());
  }
  return cookie_of(signed_in, request, services.clock.now());
}

// Allows sessions only: a token can't change its owner.
std::optional<Response> refuse_token(const Request& request) {
  if (principal_of(request).by != access::SignedInBy::kToken) return std::nullopt;
  return problem(403, "Forbidden", "A token can't do this; sign in.");
}

// Checks the user's password; returns the answer if it is wrong. Records the refusal.
std::optional<Response> check_own_password(const Services& services, const Request& request,
                                           std::string_view name, const std::string& password) {
  const Principal& who = principal_of(request);
  const auto refused = services.accounts.check_password(who.name, password, request.peer);
  if (!refused) return refusal(refused.error());
  if (!*refused) return std::nullopt;
  if (auto recorded = record_refusal(services, request, who.name, reason_text(**refused));
      !recorded) {
    return refusal(recorded.error());
  }
  if (**refused == Refusal::kLockedOut) return locked_out();
  return bad_parameter(name, "wrong password");
}

}  // namespace

std::string cookie(std::string_view name, std::string_view value, bool secure,
                   std::chrono::seconds lasts) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Lax{}", name, value,
                     lasts.count(), secure ? "; Secure" : "");
}

std::string cookie_of(const access::SignIn& signed_in, const Request& request, Instant now) {
  const auto lasts = std::max(std::chrono::floor<std::chrono::seconds>(signed_in.expires_at - now),
                              std::chrono::seconds(0));
  return cookie(session_cookie(request.secure), signed_in.secret, request.secure, lasts);
}

Response get_session(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto who = find_principal(services, request);
  if (!who) return refusal(who.error());
  if (*who) {
    const auto text = session_text(services, **who);
    return text ? json(*text) : refusal(text.error());
  }
  JsonWriter out;
  out.begin_object().raw_field("user", "null").field("version", services.version);
  write_sign_in(out, services);
  out.end_object();
  return json(out);
}

Response sign_in(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string name = body.required("user");
  const std::string password = body.required("password");
  const std::string code = body.text("code").value_or("");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  const auto done = services.accounts.sign_in(name, password, code, request.peer);
  if (!done) return refusal(done.error());
  if (const auto* const refused = std::get_if<Refusal>(&*done)) {
    // Asking for the code is not a refusal: the password was right.
    if (*refused != Refusal::kNeedsCode) {
      const auto known = services.accounts.find_user(name);
      if (!known) return refusal(known.error());
      const auto recorded =
          record_refusal(services, request, *known ? (*known)->name : "", reason_text(*refused));
      if (!recorded) return refusal(recorded.error());
    }
    return answer_to(*refused);
  }
  const auto& signed_in = std::get<access::SignIn>(*done);
  const auto set =
      begin_session(services, request, signed_in, code.empty() ? "password" : "password, code");
  if (!set) return refusal(set.error());
  const auto text = session_text(services, signed_in.principal);
  if (!text) return refusal(text.error());
  Response response = json(*text);
  response.headers = {{"Set-Cookie", *set}};
  return response;
}

Response sign_out(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  if (auto out = services.accounts.sign_out(session_secret(request)); !out) {
    return refusal(out.error());
  }
  const Principal& who = principal_of(request);
  JsonWriter which;
  which.begin_object().field("session", who.session).end_object();
  if (auto recorded = append(services, request, "sign_out", "user " + who.name, which.text(), "");
      !recorded) {
    return not_recorded(recorded.error());
  }
  Response response{.status = 204};
  response.headers = {{"Set-Cookie", cookie(session_cookie(request.secure), "", request.secure,
                                            std::chrono::seconds(0))}};
  return response;
}

Response change_password(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string old_one = body.required("old");
  const std::string new_one = body.required("new");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  if (auto problem = check_own_password(services, request, "old", old_one))
    return *std::move(problem);
  const Principal& who = principal_of(request);
  if (auto set = services.accounts.set_password(who.name, new_one, false, who.session); !set) {
    return set.error().code == ErrorCode::kBadValue ? bad_parameter("new", set.error().message)
                                                    : refusal(set.error());
  }
  if (auto recorded = append(services, request, "password.change", "user " + who.name, "", "");
      !recorded) {
    return not_recorded(recorded.error());
  }
  return {.status = 204};
}

Response begin_totp(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const auto begun = services.accounts.begin_totp(principal_of(request).name);
  if (!begun) return refusal(begun.error());
  JsonWriter out;
  out.begin_object()
      .field("secret", begun->secret)
      .field("uri", begun->uri)
      .field("qr_svg", begun->qr_svg)
      .end_object();
  return json(out);
}

Response confirm_totp(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string code = body.required("code");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const Principal& who = principal_of(request);
  const auto fits = services.accounts.confirm_totp(who.name, code);
  if (!fits) return refusal(fits.error());
  if (!*fits) return bad_parameter("code", "not the code that the app shows now");
  if (auto recorded = append(services, request, "totp.add", "user " + who.name,
                             R"({"has_totp":false})", R"({"has_totp":true})");
      !recorded) {
    return not_recorded(recorded.error());
  }
  return {.status = 204};
}

Response remove_totp(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string password = body.required("password");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  if (auto problem = check_own_password(services, request, "password", password))
    return *std::move(problem);
  const Principal& who = principal_of(request);
  if (auto done = services.accounts.remove_totp(who.name); !done) return refusal(done.error());
  if (auto recorded = append(services, request, "totp.remove", "user " + who.name,
                             R"({"has_totp":true})", R"({"has_totp":false})");
      !recorded) {
    return not_recorded(recorded.error());
  }
  return {.status = 204};
}

// ---- OpenID Connect

namespace {

Response openid_not_configured() {
  return not_found("signing in by OpenID Connect is not configured");
}

std::vector<SummaryFilter> scope_of(const access::oidc::ExternalIdentity& identity) {
  std::vector<SummaryFilter> scope;
  for (const access::oidc::ScopePart& part : identity.scope) {
    scope.push_back({.dimension = part.dimension, .values = part.values});
  }
  return scope;
}

bool is_same(const std::vector<SummaryFilter>& a, const std::vector<SummaryFilter>& b) {
  return std::ranges::equal(a, b, [](const SummaryFilter& one, const SummaryFilter& other) {
    return one.dimension == other.dimension && one.values == other.values;
  });
}

Result<void> record_external_change(const Services& services, const Request& request,
                                    std::string_view action, const User& user, std::string before) {
  return append(services, audit_log::Entry{.at = services.clock.now(),
                                           .actor = "openid",
                                           .peer = request.peer,
                                           .action = std::string(action),
                                           .subject = "user " + user.name,
                                           .before = std::move(before),
                                           .after = user_text(user),
                                           .hash = {}});
}

// Finds or creates the user whom the provider has identified, and applies the current claims: an
// admin who has left the group of admins is none from the next sign-in on.
Result<User> provision_user(const Services& services, const Request& request,
                            const access::oidc::ExternalIdentity& identity) {
  const auto role = access::parse_role(identity.role);
  if (!role) {
    return fail(ErrorCode::kConfig, fmt::format("there is no role '{}'", identity.role));
  }
  const std::string subject = fmt::format("{} {}", identity.issuer, identity.subject);
  const auto known = services.accounts.find_subject(subject);
  if (!known) return std::unexpected(known.error());
  User user = known->value_or(User{});
  const User before = user;
  user.display_name = identity.display_name;
  user.email = identity.email;
  user.role = *role;
  user.scope = scope_of(identity);
  if (!*known) {
    // Names don't identify people: a user of this name is somebody else.
    const auto taken = TRY(services.accounts.find_user(identity.name));
    if (taken) {
      return fail(ErrorCode::kConflict,
                  fmt::format("another user is called '{}' here; ask an admin", identity.name));
    }
    user.name = identity.name;
    user.local = false;
    user.subject = subject;
    auto added = services.accounts.add_user(user, "", false);
    if (!added) return added;
    TRY(record_external_change(services, request, "user.add", *added, ""));
    return added;
  }
  // A local user to whom an admin has given a subject keeps the local role.
  if (before.local || before.disabled ||
      (before.display_name == user.display_name && before.email == user.email &&
       before.role == user.role && is_same(before.scope, user.scope))) {
    return before;
  }
  auto changed = services.accounts.change_user(user);
  if (!changed) return changed;
  TRY(record_external_change(services, request, "user.change", *changed, user_text(before)));
  return changed;
}

// Refuses the sign-in. The provider's message is recorded in the audit log.
Response refuse_openid_sign_in(const Services& services, const Request& request,
                               const Error& error) {
  if (auto recorded = record_refusal(services, request, "", "openid: " + error.message);
      !recorded) {
    return refusal(recorded.error());
  }
  switch (error.code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kBadValue:
      return problem(401, "Unauthorized", error.message);
    case ErrorCode::kUnsupported:
    case ErrorCode::kConflict:
      return problem(403, "Forbidden", error.message);
    default:
      return problem(502, "Bad gateway", error.message);
  }
}

}  // namespace

Response begin_openid(const Services& services, const Request& request) {
  QueryParams params(request);
  const std::string next = params.text("next").value_or("/");
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.oidc == nullptr) return openid_not_configured();
  const auto begun = services.oidc->begin(next);
  if (!begun) return refuse_openid_sign_in(services, request, begun.error());
  Response response{.status = 302};
  response.headers = {{"Location", begun->url},
                      {"Set-Cookie", cookie(openid_cookie(request.secure), begun->cookie,
                                            request.secure, access::oidc::Provider::kSignInLasts)}};
  return response;
}

Response finish_openid(const Services& services, const Request& request) {
  if (services.oidc == nullptr) return openid_not_configured();
  const std::string name(openid_cookie(request.secure));
  const auto bound = request.cookies.find(name);
  const std::string_view cookie_value =
      bound == request.cookies.end() ? std::string_view() : std::string_view(bound->second);
  const auto finished = services.oidc->finish(request.query, cookie_value);
  if (!finished) return refuse_openid_sign_in(services, request, finished.error());
  const auto user = provision_user(services, request, finished->who);
  if (!user) return refuse_openid_sign_in(services, request, user.error());
  const auto done = services.accounts.sign_in_external(user->name);
  if (!done) return refusal(done.error());
  if (const auto* const refused = std::get_if<Refusal>(&*done)) {
    if (auto recorded = record_refusal(services, request, user->name, reason_text(*refused));
        !recorded) {
      return refusal(recorded.error());
    }
    return problem(403, "Forbidden", "This user may not sign in here.");
  }
  const auto set = begin_session(services, request, std::get<access::SignIn>(*done), "openid");
  if (!set) return refusal(set.error());
  Response response{.status = 302};
  response.headers = {{"Location", finished->next},
                      {"Set-Cookie", *set},
                      {"Set-Cookie", cookie(name, "", request.secure, std::chrono::seconds(0))}};
  return response;
}

}  // namespace pennyweight::api
