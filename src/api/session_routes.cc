#include "api/session_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "access/oidc/provider.h"
#include "api/answers.h"
#include "api/audit_log.h"
#include "api/books.h"
#include "api/guard.h"
#include "api/user_routes.h"

namespace pennyweight::api {
namespace {

using access::Principal;
using access::Refusal;
using access::User;
using server::problem;
using server::Request;
using server::Response;

// What is told of a lock-out; when it ends is not told to the second.
constexpr std::chrono::seconds kRetryWhenLockedOut{900};

std::string_view openid_cookie(bool secure) {
  return secure ? "__Host-pennyweight-openid" : "pennyweight-openid";
}

void write_sign_in(JsonWriter& out, const Parts& parts) {
  out.key("sign_in").begin_object().field("password", true).key("openid");
  if (parts.oidc == nullptr) {
    out.null();
  } else {
    out.begin_object().field("name", parts.oidc->name()).end_object();
  }
  out.end_object();
}

Result<std::string> session_text(const Parts& parts, const Principal& who) {
  const auto user = parts.accounts.find_user(who.name);
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
    if (may_here(who, permission)) out.value(access::to_text(permission));
  }
  out.end_list()
      .field("csrf", who.csrf)
      .field("must_change_password", who.must_change_password)
      .field("version", parts.version);
  write_sign_in(out, parts);
  out.end_object();
  return out.text();
}

// An entry of the audit log by somebody who is not signed in. `user` is one that there is, or "".
Result<void> append_refusal(const Parts& parts, const Request& request, const std::string& user,
                            std::string_view reason) {
  JsonWriter why;
  why.begin_object().field("reason", reason).end_object();
  return append(parts, trail::Entry{.at = parts.clock.now(),
                                    .actor = "",
                                    .peer = request.peer,
                                    .action = "sign_in_failed",
                                    .subject = user.empty() ? "an unknown user" : "user " + user,
                                    .before = "",
                                    .after = why.text(),
                                    .hash = {}});
}

std::string_view word_of(Refusal refusal) {
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

// Tells the audit log who is in, and sets his cookie.
Result<std::string> welcome(const Parts& parts, const Request& request,
                            const access::SignIn& signed_in, std::string_view by) {
  JsonWriter how;
  how.begin_object()
      .field("by", by)
      .field("session", signed_in.principal.session)
      .field("role", access::to_text(signed_in.principal.role))
      .end_object();
  const auto told = append(parts, trail::Entry{.at = parts.clock.now(),
                                               .actor = signed_in.principal.name,
                                               .peer = request.peer,
                                               .action = "sign_in",
                                               .subject = "user " + signed_in.principal.name,
                                               .before = "",
                                               .after = how.text(),
                                               .hash = {}});
  if (!told) {
    // Nobody is in of whom the log does not know.
    auto out = parts.accounts.sign_out(signed_in.secret);
    return std::unexpected(out ? told.error() : out.error());
  }
  return cookie_of(signed_in, request, parts.clock.now());
}

// Of himself, by a session: a token can't change who it belongs to.
std::optional<Response> refuse_token(const Request& request) {
  if (asker(request).by != access::SignedInBy::kToken) return std::nullopt;
  return problem(403, "Forbidden", "A token can't do this; sign in.");
}

// Whether it is his password; else what is answered. The refusal is in the audit log.
std::optional<Response> check_own_password(const Parts& parts, const Request& request,
                                           std::string_view name, const std::string& password) {
  const Principal& who = asker(request);
  const auto refused = parts.accounts.check_password(who.name, password, request.peer);
  if (!refused) return refusal(refused.error());
  if (!*refused) return std::nullopt;
  if (auto told = append_refusal(parts, request, who.name, word_of(**refused)); !told) {
    return refusal(told.error());
  }
  if (**refused == Refusal::kLockedOut) return locked_out();
  return bad_parameter(name, "it is not the password");
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

Response get_session(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto who = who_asks(parts, request);
  if (!who) return refusal(who.error());
  if (*who) {
    const auto text = session_text(parts, **who);
    return text ? json(*text) : refusal(text.error());
  }
  JsonWriter out;
  out.begin_object().raw_field("user", "null").field("version", parts.version);
  write_sign_in(out, parts);
  out.end_object();
  return json(out);
}

Response sign_in(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const std::string name = body.need("user");
  const std::string password = body.need("password");
  const std::string code = body.text("code").value_or("");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  const auto done = parts.accounts.sign_in(name, password, code, request.peer);
  if (!done) return refusal(done.error());
  if (const auto* const refused = std::get_if<Refusal>(&*done)) {
    // That the code is still to come is no refusal: the password was right.
    if (*refused != Refusal::kNeedsCode) {
      const auto known = parts.accounts.find_user(name);
      if (!known) return refusal(known.error());
      const auto told =
          append_refusal(parts, request, *known ? (*known)->name : "", word_of(*refused));
      if (!told) return refusal(told.error());
    }
    return answer_to(*refused);
  }
  const auto& signed_in = std::get<access::SignIn>(*done);
  const auto set = welcome(parts, request, signed_in, code.empty() ? "password" : "password, code");
  if (!set) return refusal(set.error());
  const auto text = session_text(parts, signed_in.principal);
  if (!text) return refusal(text.error());
  Response response = json(*text);
  response.headers = {{"Set-Cookie", *set}};
  return response;
}

Response sign_out(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = refuse_token(request)) return *std::move(no);
  if (auto out = parts.accounts.sign_out(session_secret(request)); !out) {
    return refusal(out.error());
  }
  const Principal& who = asker(request);
  JsonWriter which;
  which.begin_object().field("session", who.session).end_object();
  if (auto told = append(parts, request, "sign_out", "user " + who.name, which.text(), ""); !told) {
    return not_recorded(told.error());
  }
  Response response{.status = 204};
  response.headers = {{"Set-Cookie", cookie(session_cookie(request.secure), "", request.secure,
                                            std::chrono::seconds(0))}};
  return response;
}

Response change_password(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const std::string old_one = body.need("old");
  const std::string new_one = body.need("new");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  if (auto no = refuse_token(request)) return *std::move(no);
  if (auto no = check_own_password(parts, request, "old", old_one)) return *std::move(no);
  const Principal& who = asker(request);
  if (auto set = parts.accounts.set_password(who.name, new_one, false, who.session); !set) {
    return set.error().code == ErrorCode::kBadValue ? bad_parameter("new", set.error().message)
                                                    : refusal(set.error());
  }
  if (auto told = append(parts, request, "password.change", "user " + who.name, "", ""); !told) {
    return not_recorded(told.error());
  }
  return {.status = 204};
}

Response begin_totp(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = refuse_token(request)) return *std::move(no);
  const auto begun = parts.accounts.begin_totp(asker(request).name);
  if (!begun) return refusal(begun.error());
  JsonWriter out;
  out.begin_object()
      .field("secret", begun->secret)
      .field("uri", begun->uri)
      .field("qr_svg", begun->qr_svg)
      .end_object();
  return json(out);
}

Response confirm_totp(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const std::string code = body.need("code");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  if (auto no = refuse_token(request)) return *std::move(no);
  const Principal& who = asker(request);
  const auto fits = parts.accounts.confirm_totp(who.name, code);
  if (!fits) return refusal(fits.error());
  if (!*fits) return bad_parameter("code", "it is not the one that the app shows now");
  if (auto told = append(parts, request, "totp.add", "user " + who.name, R"({"has_totp":false})",
                         R"({"has_totp":true})");
      !told) {
    return not_recorded(told.error());
  }
  return {.status = 204};
}

Response remove_totp(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const std::string password = body.need("password");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  if (auto no = refuse_token(request)) return *std::move(no);
  if (auto no = check_own_password(parts, request, "password", password)) return *std::move(no);
  const Principal& who = asker(request);
  if (auto done = parts.accounts.remove_totp(who.name); !done) return refusal(done.error());
  if (auto told = append(parts, request, "totp.remove", "user " + who.name, R"({"has_totp":true})",
                         R"({"has_totp":false})");
      !told) {
    return not_recorded(told.error());
  }
  return {.status = 204};
}

// ---- OpenID Connect

namespace {

Response no_openid() { return not_found("signing in by OpenID Connect is not configured"); }

std::vector<SummaryFilter> scope_of(const access::oidc::Vouched& vouched) {
  std::vector<SummaryFilter> scope;
  for (const access::oidc::ScopePart& part : vouched.scope) {
    scope.push_back({.dimension = part.dimension, .values = part.values});
  }
  return scope;
}

bool is_same(const std::vector<SummaryFilter>& a, const std::vector<SummaryFilter>& b) {
  return std::ranges::equal(a, b, [](const SummaryFilter& one, const SummaryFilter& other) {
    return one.dimension == other.dimension && one.values == other.values;
  });
}

Result<void> append_vouched(const Parts& parts, const Request& request, std::string_view action,
                            const User& user, std::string before) {
  return append(parts, trail::Entry{.at = parts.clock.now(),
                                    .actor = "openid",
                                    .peer = request.peer,
                                    .action = std::string(action),
                                    .subject = "user " + user.name,
                                    .before = std::move(before),
                                    .after = user_text(user),
                                    .hash = {}});
}

// The user of ours whom the provider means, as his claims are today: who leaves the group of the
// admins is none here from his next sign-in on.
Result<User> user_of(const Parts& parts, const Request& request,
                     const access::oidc::Vouched& vouched) {
  const auto role = access::parse_role(vouched.role);
  if (!role) {
    return fail(ErrorCode::kConfig, fmt::format("there is no role '{}'", vouched.role));
  }
  const std::string subject = fmt::format("{} {}", vouched.issuer, vouched.subject);
  const auto known = parts.accounts.find_subject(subject);
  if (!known) return std::unexpected(known.error());
  User user = known->value_or(User{});
  const User before = user;
  user.display_name = vouched.display_name;
  user.email = vouched.email;
  user.role = *role;
  user.scope = scope_of(vouched);
  if (!*known) {
    // A name says nothing of who somebody is: one that is taken is not his.
    const auto taken = parts.accounts.find_user(vouched.name);
    if (!taken) return std::unexpected(taken.error());
    if (*taken) {
      return fail(ErrorCode::kConflict,
                  fmt::format("there is another user '{}' here; ask an admin", vouched.name));
    }
    user.name = vouched.name;
    user.local = false;
    user.subject = subject;
    auto added = parts.accounts.add_user(user, "", false);
    if (!added) return added;
    if (auto told = append_vouched(parts, request, "user.add", *added, ""); !told) {
      return std::unexpected(told.error());
    }
    return added;
  }
  // A local user whom an admin has given a subject keeps the role that he has here.
  if (before.local || before.disabled ||
      (before.display_name == user.display_name && before.email == user.email &&
       before.role == user.role && is_same(before.scope, user.scope))) {
    return before;
  }
  auto changed = parts.accounts.change_user(user);
  if (!changed) return changed;
  if (auto told = append_vouched(parts, request, "user.change", *changed, user_text(before));
      !told) {
    return std::unexpected(told.error());
  }
  return changed;
}

// Nobody is signed in. What the provider has said is in the audit log.
Response refuse_openid(const Parts& parts, const Request& request, const Error& error) {
  if (auto told = append_refusal(parts, request, "", "openid: " + error.message); !told) {
    return refusal(told.error());
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

Response begin_openid(const Parts& parts, const Request& request) {
  Asked asked(request);
  const std::string next = asked.text("next").value_or("/");
  if (auto no = asked.refused()) return *std::move(no);
  if (parts.oidc == nullptr) return no_openid();
  const auto begun = parts.oidc->begin(next);
  if (!begun) return refuse_openid(parts, request, begun.error());
  Response response{.status = 302};
  response.headers = {{"Location", begun->url},
                      {"Set-Cookie", cookie(openid_cookie(request.secure), begun->cookie,
                                            request.secure, access::oidc::Provider::kSignInLasts)}};
  return response;
}

Response finish_openid(const Parts& parts, const Request& request) {
  if (parts.oidc == nullptr) return no_openid();
  const std::string name(openid_cookie(request.secure));
  const auto bound = request.cookies.find(name);
  const std::string_view cookie_value =
      bound == request.cookies.end() ? std::string_view() : std::string_view(bound->second);
  const auto finished = parts.oidc->finish(request.query, cookie_value);
  if (!finished) return refuse_openid(parts, request, finished.error());
  const auto user = user_of(parts, request, finished->who);
  if (!user) return refuse_openid(parts, request, user.error());
  const auto done = parts.accounts.sign_in_vouched(user->name);
  if (!done) return refusal(done.error());
  if (const auto* const refused = std::get_if<Refusal>(&*done)) {
    if (auto told = append_refusal(parts, request, user->name, word_of(*refused)); !told) {
      return refusal(told.error());
    }
    return problem(403, "Forbidden", "This user may not sign in here.");
  }
  const auto set = welcome(parts, request, std::get<access::SignIn>(*done), "openid");
  if (!set) return refusal(set.error());
  Response response{.status = 302};
  response.headers = {{"Location", finished->next},
                      {"Set-Cookie", *set},
                      {"Set-Cookie", cookie(name, "", request.secure, std::chrono::seconds(0))}};
  return response;
}

}  // namespace pennyweight::api
