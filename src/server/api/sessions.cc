#include "server/api/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/ascii.h"
#include "core/try.h"
#include "server/access/oidc/provider.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"
#include "server/api/users.h"
#include "server/request_text.h"

namespace pennyweight::api {
namespace {

using access::Principal;
using access::Refusal;
using access::User;
using server::problem;
using server::Request;
using server::Response;

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
  const auto left = services.accounts.recovery_codes_left(who.name);
  if (!left) return std::unexpected(left.error());
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
      .field("recovery_codes", *left)
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

// Counts a refusal of somebody who is not signed in. `user` is an existing user, or "".
Result<void> record_refusal(const Services& services, const Request& request,
                            const std::string& user, std::string_view reason) {
  return services.failed_sign_ins->add(
      user, request.peer, reason, services.clock.now(),
      [&](audit_log::Entry entry) { return append(services, std::move(entry)); });
}

access::Device device_of(const Request& request) {
  return {.peer = request.peer, .agent = request.header("user-agent")};
}

std::string_view word_of(access::SignedInBy by) {
  return by == access::SignedInBy::kOpenId ? "openid" : "password";
}

// The line of a session that begins. `by` says how the user proved who they are.
RecordedChange sign_in_change(const Services& services, const Request& request, std::string by) {
  return RecordedChange(
      services.audit_log, {.actor = "", .peer = request.peer}, "sign_in",
      [by = std::move(by)](const access::Change& change, audit_log::Entry& entry) {
        const User& user = *change.user_after;
        JsonWriter how;
        how.begin_object()
            .field("by", by)
            .field("session", change.session->id)
            .field("role", access::to_text(user.role))
            .end_object();
        entry.actor = user.name;
        entry.subject = "user " + user.name;
        entry.after = how.text();
      });
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

Response locked_out(const Services& services, const Request& request, std::string_view name) {
  Response later =
      problem(429, "Too many requests", "Too many wrong passwords or codes. Wait, and try again.");
  const auto left = services.accounts.lock_out_left(name, request.peer);
  if (!left) return refusal(left.error());
  later.retry_after =
      std::max(std::chrono::ceil<std::chrono::seconds>(*left), std::chrono::seconds(1));
  return later;
}

Response answer_to(const Services& services, const Request& request, std::string_view name,
                   Refusal refusal) {
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
      return locked_out(services, request, name);
    case Refusal::kWrong:
    case Refusal::kDisabled:
      break;
  }
  return problem(401, "Unauthorized", "The name, the password or the code is wrong.");
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
  if (**refused == Refusal::kLockedOut) return locked_out(services, request, who.name);
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
  auto change = sign_in_change(services, request, code.empty() ? "password" : "password, code");
  const auto done = change.finish(
      services.accounts.sign_in(name, password, code, device_of(request), change.recorder()));
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
    return answer_to(services, request, name, *refused);
  }
  const auto& signed_in = std::get<access::SignIn>(*done);
  const auto text = session_text(services, signed_in.principal);
  if (!text) return refusal(text.error());
  Response response = json(*text);
  response.headers = {{"Set-Cookie", cookie_of(signed_in, request, services.clock.now())}};
  return response;
}

Response confirm_sign_in(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string password = body.required("password");
  const std::string code = body.text("code").value_or("");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const Principal& who = principal_of(request);
  auto change = user_event(services, author_of(request), "sign_in_confirm");
  const auto refused = change.finish(services.accounts.confirm_session(
      session_secret(request), password, code, request.peer, change.recorder()));
  if (!refused) return refusal(refused.error());
  if (!*refused) return {.status = 204};
  if (**refused != Refusal::kNeedsCode) {
    if (auto recorded = record_refusal(services, request, who.name, reason_text(**refused));
        !recorded) {
      return refusal(recorded.error());
    }
  }
  // Who is signed in already, and mistypes, is not asked to sign in.
  if (**refused == Refusal::kWrong)
    return bad_parameter("password", "the password or the code is wrong");
  return answer_to(services, request, who.name, **refused);
}

namespace {

RecordedChange session_change(const Services& services, const Author& author,
                              std::string_view action, std::string user) {
  return RecordedChange(
      services.audit_log, author, action,
      [user = std::move(user)](const access::Change& change, audit_log::Entry& entry) {
        entry.subject = "user " + user;
        if (!change.session) return;
        JsonWriter which;
        which.begin_object().field("session", change.session->id).end_object();
        entry.before = which.text();
      });
}

}  // namespace

Response sign_out(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  auto change =
      session_change(services, author_of(request), "sign_out", principal_of(request).name);
  if (auto out =
          change.finish(services.accounts.sign_out(session_secret(request), change.recorder()));
      !out) {
    return refusal(out.error());
  }
  Response response{.status = 204};
  response.headers = {{"Set-Cookie", cookie(session_cookie(request.secure), "", request.secure,
                                            std::chrono::seconds(0))}};
  return response;
}

Response get_sessions(const Services& services, const Request& request) {
  QueryParams params(request);
  const Principal& who = principal_of(request);
  const std::string user = params.text("user").value_or(who.name);
  if (auto problem = params.problem()) return *std::move(problem);
  if (user != who.name && !may_access(who, access::Permission::kManageUsers)) {
    return problem(403, "Forbidden", "Sessions of other users need the permission manage_users.");
  }
  const auto sessions = services.accounts.sessions(user);
  if (!sessions) return refusal(sessions.error());
  return list(*sessions, std::nullopt, [&](JsonWriter& out, const access::Session& session) {
    out.begin_object()
        .field("id", session.id)
        .field("user", session.user)
        .field("by", word_of(session.by))
        .field("created_at", session.created_at)
        .field("seen_at", session.seen_at)
        .field("expires_at", session.expires_at)
        .field("peer", session.peer)
        .field("agent", session.agent)
        .field("this_one", session.id == who.session)
        .end_object();
  });
}

Response end_session(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const std::string& user = principal_of(request).name;
  auto change = session_change(services, author_of(request), "session.end", user);
  const auto ended =
      change.finish(services.accounts.end_session(user, request.param("id"), change.recorder()));
  return ended ? Response{.status = 204} : refusal(ended.error());
}

Response end_other_sessions(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const Principal& who = principal_of(request);
  auto change = session_change(services, author_of(request), "session.end_all", who.name);
  const auto ended =
      change.finish(services.accounts.end_sessions(who.name, who.session, change.recorder()));
  if (!ended) return refusal(ended.error());
  JsonWriter out;
  out.begin_object().field("ended", *ended).end_object();
  return json(out);
}

Response end_sessions_of_user(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string user = request.param("name");
  auto change = session_change(services, author_of(request), "session.end_all", user);
  const auto ended = change.finish(services.accounts.end_sessions(user, "", change.recorder()));
  if (!ended) return refusal(ended.error());
  JsonWriter out;
  out.begin_object().field("ended", *ended).end_object();
  return json(out);
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
  auto change = user_event(services, author_of(request), "password.change");
  if (auto set = change.finish(
          services.accounts.set_password(who.name, new_one, false, who.session, change.recorder()));
      !set) {
    return set.error().code == ErrorCode::kBadValue ? bad_parameter("new", set.error().message)
                                                    : refusal(set.error());
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

namespace {

RecordedChange totp_change(const Services& services, const Author& author,
                           std::string_view action) {
  return RecordedChange(services.audit_log, author, action,
                        [action](const access::Change& change, audit_log::Entry& entry) {
                          constexpr const char* kWith = R"({"has_totp":true})";
                          constexpr const char* kWithout = R"({"has_totp":false})";
                          const bool is_added = action == "totp.add";
                          entry.subject = "user " + change.user_after->name;
                          entry.before = is_added ? kWithout : kWith;
                          entry.after = is_added ? kWith : kWithout;
                        });
}

}  // namespace

Response confirm_totp(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const std::string code = body.required("code");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const Principal& who = principal_of(request);
  RecordedChange change = totp_change(services, author_of(request), "totp.add");
  const auto fits =
      change.finish(services.accounts.confirm_totp(who.name, code, change.recorder()));
  if (!fits) return refusal(fits.error());
  if (!*fits) return bad_parameter("code", "not the code that the app shows now");
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
  RecordedChange change = totp_change(services, author_of(request), "totp.remove");
  const auto done = change.finish(services.accounts.remove_totp(who.name, change.recorder()));
  return done ? Response{.status = 204} : refusal(done.error());
}

Response make_recovery_codes(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  auto change = user_event(services, author_of(request), "totp.codes");
  const auto codes = change.finish(
      services.accounts.make_recovery_codes(principal_of(request).name, change.recorder()));
  if (!codes) return refusal(codes.error());
  JsonWriter out;
  out.begin_object().texts("codes", *codes).end_object();
  return json(out, 201);
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

Author openid_author(const Request& request) { return {.actor = "openid", .peer = request.peer}; }

std::string subject_of(const access::oidc::ExternalIdentity& identity) {
  return fmt::format("{} {}", identity.issuer, identity.subject);
}

// Somebody whose claims give nothing here any more has lost what they had: their sessions end and
// their tokens are suspended, at once. Returns the user's name; "" if there is none.
Result<std::string> end_access(const Services& services, const Request& request,
                               const access::oidc::ExternalIdentity& identity) {
  const auto known = TRY(services.accounts.find_subject(subject_of(identity)));
  if (!known || known->local) return std::string();
  RecordedChange change(services.audit_log, openid_author(request), "user.unvouched",
                        [&](const access::Change& done, audit_log::Entry& entry) {
                          JsonWriter why;
                          why.begin_object().field("reason", identity.not_entitled).end_object();
                          entry.subject = "user " + done.user_before->name;
                          entry.after = why.text();
                        });
  TRY(change.finish(services.accounts.stop_vouching(known->name, change.recorder())));
  return known->name;
}

// Finds or creates the user whom the provider has identified, and applies the current claims: an
// admin who has left the group of admins is none from the next sign-in on.
Result<User> provision_user(const Services& services, const Request& request,
                            const access::oidc::ExternalIdentity& identity) {
  const auto role = access::parse_role(identity.role);
  if (!role) {
    return fail(ErrorCode::kConfig, fmt::format("there is no role '{}'", identity.role));
  }
  const std::string subject = subject_of(identity);
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
    auto change = user_change(services, openid_author(request), "user.add");
    return change.finish(services.accounts.add_user(user, "", false, change.recorder()));
  }
  // A local user to whom an admin has given a subject keeps the local role.
  if (before.local || before.disabled ||
      (before.display_name == user.display_name && before.email == user.email &&
       before.role == user.role && is_same(before.scope, user.scope))) {
    return before;
  }
  auto change = user_change(services, openid_author(request), "user.change");
  return change.finish(services.accounts.change_user(user, change.recorder()));
}

// Refuses the sign-in. The provider's message is recorded in the audit log. `user` is an existing
// user, or "".
Response refuse_openid_sign_in(const Services& services, const Request& request, const Error& error,
                               const std::string& user = {}) {
  if (auto recorded = record_refusal(services, request, user, "openid: " + error.message);
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
  if (!finished->who.not_entitled.empty()) {
    const auto lost = end_access(services, request, finished->who);
    if (!lost) return refusal(lost.error());
    return refuse_openid_sign_in(services, request,
                                 {ErrorCode::kConflict, finished->who.not_entitled}, *lost);
  }
  const auto user = provision_user(services, request, finished->who);
  if (!user) return refuse_openid_sign_in(services, request, user.error());
  auto change = sign_in_change(services, request, "openid");
  const auto done = change.finish(
      services.accounts.sign_in_external(user->name, device_of(request), change.recorder()));
  if (!done) return refusal(done.error());
  if (const auto* const refused = std::get_if<Refusal>(&*done)) {
    if (auto recorded = record_refusal(services, request, user->name, reason_text(*refused));
        !recorded) {
      return refusal(recorded.error());
    }
    return problem(403, "Forbidden", "This user may not sign in here.");
  }
  const std::string set = cookie_of(std::get<access::SignIn>(*done), request, services.clock.now());
  Response response{.status = 302};
  response.headers = {{"Location", finished->next},
                      {"Set-Cookie", set},
                      {"Set-Cookie", cookie(name, "", request.secure, std::chrono::seconds(0))}};
  return response;
}

// OpenID Connect Back-Channel Logout 1.0. Nobody is signed in here: the token's signature is the
// proof, so there is no CSRF token either.
Response sign_out_by_openid(const Services& services, const Request& request) {
  if (services.oidc == nullptr) return openid_not_configured();
  constexpr std::string_view kForm = "application/x-www-form-urlencoded";
  const auto kind =
      ascii::trim(std::string_view(request.content_type).substr(0, request.content_type.find(';')));
  if (!ascii::equal_ignoring_case(kind, kForm)) {
    return problem(415, "Unsupported media type", "Send application/x-www-form-urlencoded.");
  }
  const auto form = server::read_target("/?" + request.body);
  if (!form || form->query.count("logout_token") != 1) {
    return problem(400, "Bad request", "Send one logout_token.");
  }
  const auto done = services.oidc->read_logout(form->query.find("logout_token")->second);
  if (!done) {
    if (done.error().code != ErrorCode::kBadValue) return refusal(done.error());
    if (auto recorded = record_refusal(services, request, "", "openid logout"); !recorded) {
      return refusal(recorded.error());
    }
    return problem(400, "Bad request", done.error().message);
  }
  const auto known = services.accounts.find_subject(subject_of(done->who));
  if (!known) return refusal(known.error());
  if (*known && (*known)->local) {
    // Has a password here too, which the provider says nothing about: the sessions end, no more.
    auto change =
        session_change(services, openid_author(request), "session.end_all", (*known)->name);
    const auto ended =
        change.finish(services.accounts.end_sessions((*known)->name, "", change.recorder()));
    if (!ended) return refusal(ended.error());
  } else if (const auto ended = end_access(services, request, done->who); !ended) {
    return refusal(ended.error());
  }
  services.oidc->mark_done(*done);
  return json("{}");
}

}  // namespace pennyweight::api
