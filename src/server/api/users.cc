#include "server/api/users.h"

#include <fmt/format.h>

#include <utility>

#include "config/config.h"
#include "reporting/queries/selection.h"
#include "server/access/password.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

using access::Role;
using access::User;
using server::Request;
using server::Response;

constexpr std::string_view kUserList = "users";

Result<User> existing(const Services& services, const std::string& name) {
  const auto user = services.accounts.find_user(name);
  if (!user) return std::unexpected(user.error());
  if (!*user) return fail(ErrorCode::kNotFound, fmt::format("there is no user '{}'", name));
  return **user;
}

// A token gives nobody what it does not have itself, and makes no admins: they would outlive it.
std::optional<Response> refuse_to_grant(const Request& request, Role role) {
  if (may_grant(principal_of(request), role)) return std::nullopt;
  return server::problem(403, "Forbidden",
                         fmt::format("A token can't make, change or remove a user with the role {} "
                                     "unless it has all of that role's permissions, and never an "
                                     "admin; sign in.",
                                     access::to_text(role)));
}

// Blocking somebody who is no admin gives nobody anything.
std::optional<Response> refuse_to_change(const Request& request, const User& before,
                                         const User& after) {
  User blocked = before;
  blocked.disabled = true;
  if (after.disabled && before.role != Role::kAdmin && user_text(blocked) == user_text(after)) {
    return std::nullopt;
  }
  if (auto problem = refuse_to_grant(request, before.role)) return problem;
  return refuse_to_grant(request, after.role);
}

// Reads the fields of a user from the body; absent ones stay as they are.
void take_user(JsonBody& body, const Policy& policy, User& user) {
  if (auto text = body.text("display_name")) user.display_name = *std::move(text);
  if (auto text = body.text("email")) user.email = *std::move(text);
  if (const auto text = body.text("role")) {
    const auto role = access::parse_role(*text);
    if (!role) body.reject("role", "must be viewer, team_lead, finance, operator, admin or client");
    user.role = role.value_or(user.role);
  }
  if (auto scope = body.scope("scope")) {
    const auto known = check_scope_dimensions(*scope, policy);
    if (!known) body.reject("scope", known.error().message);
    user.scope = *std::move(scope);
  }
}

}  // namespace

std::string user_text(const User& user) {
  JsonWriter out;
  out.begin_object()
      .field("name", user.name)
      .field("display_name", user.display_name)
      .field("email", user.email)
      .field("role", access::to_text(user.role))
      .scope("scope", user.scope)
      .field("local", user.local)
      .field("has_totp", user.has_totp)
      .field("disabled", user.disabled)
      .field("must_change_password", user.must_change_password)
      .field("created_at", user.created_at)
      .field("last_sign_in", user.last_sign_in)
      .end_object();
  return out.text();
}

namespace {

std::string subject_of_user(const access::Change& change) {
  const auto& user = change.user_after ? change.user_after : change.user_before;
  return "user " + (user ? user->name : std::string());
}

}  // namespace

RecordedChange user_change(const Services& services, const Author& author,
                           std::string_view action) {
  return RecordedChange(services.audit_log, author, action,
                        [](const access::Change& change, audit_log::Entry& entry) {
                          entry.subject = subject_of_user(change);
                          if (change.user_before) entry.before = user_text(*change.user_before);
                          if (change.user_after) entry.after = user_text(*change.user_after);
                        });
}

RecordedChange user_event(const Services& services, const Author& author, std::string_view action,
                          std::string facts) {
  return RecordedChange(
      services.audit_log, author, action,
      [facts = std::move(facts)](const access::Change& change, audit_log::Entry& entry) {
        entry.subject = subject_of_user(change);
        entry.after = facts;
        if (change.tokens_revoked == 0) return;
        JsonWriter out;
        out.begin_object().field("tokens_revoked", change.tokens_revoked).end_object();
        entry.after = out.text();
      });
}

Response get_users(const Services& services, const Request& request) {
  QueryParams params(request);
  const Page page = params.page(kUserList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto users = services.accounts.users();
  if (!users) return refusal(users.error());
  const auto part =
      cut_page(kUserList, page, *std::move(users), [](const User& user) { return user.name; });
  return list(part.entries, part.next,
              [](JsonWriter& out, const User& user) { out.raw(user_text(user)); });
}

Response add_user(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  User user;
  user.name = body.required("name");
  take_user(body, services.config.policy, user);
  user.subject = body.text("subject").value_or("");
  user.local = body.boolean("local").value_or(user.subject.empty());
  if (!user.local && user.subject.empty()) {
    body.reject("subject",
                "required for users without a password: the issuer, a blank, and the "
                "OpenID Connect subject");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  std::string password;
  if (user.local) {
    auto made = access::one_time_password();
    if (!made) return refusal(made.error());
    password = *std::move(made);
  }
  if (auto problem = refuse_to_grant(request, user.role)) return *std::move(problem);
  auto change = user_change(services, author_of(request), "user.add");
  const auto added =
      change.finish(services.accounts.add_user(user, password, user.local, change.recorder()));
  if (!added) return refusal(added.error());
  const std::string text = user_text(*added);
  JsonWriter out;
  out.begin_object()
      .raw_field("user", text)
      .field("password", user.local ? std::optional(password) : std::nullopt)
      .end_object();
  return json(out, 201);
}

Response get_user(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto user = existing(services, request.param("name"));
  return user ? json(user_text(*user)) : refusal(user.error());
}

Response change_user(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const auto before = existing(services, request.param("name"));
  if (!before) return refusal(before.error());
  User user = *before;
  take_user(body, services.config.policy, user);
  if (const auto disabled = body.boolean("disabled")) user.disabled = *disabled;
  // An admin can remove a lost second factor; only the user can add one.
  const bool wants_totp = body.boolean("has_totp").value_or(before->has_totp);
  if (wants_totp && !before->has_totp)
    body.reject("has_totp", "only the user can add a second factor");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (auto problem = refuse_to_change(request, *before, user)) return *std::move(problem);
  user.has_totp = wants_totp;
  auto change = user_change(services, author_of(request), "user.change");
  const auto changed = change.finish(services.accounts.change_user(user, change.recorder()));
  return changed ? json(user_text(*changed)) : refusal(changed.error());
}

Response remove_user(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto before = existing(services, request.param("name"));
  if (!before) return refusal(before.error());
  if (auto problem = refuse_to_grant(request, before->role)) return *std::move(problem);
  auto change = user_change(services, author_of(request), "user.remove");
  const auto removed =
      change.finish(services.accounts.remove_user(before->name, change.recorder()));
  return removed ? Response{.status = 204} : refusal(removed.error());
}

Response reset_password(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = refuse_token(request)) return *std::move(problem);
  const auto user = existing(services, request.param("name"));
  if (!user) return refusal(user.error());
  const auto password = access::one_time_password();
  if (!password) return refusal(password.error());
  auto change = user_event(services, author_of(request), "user.password_reset");
  if (auto set = change.finish(
          services.accounts.set_password(user->name, *password, true, "", change.recorder()));
      !set) {
    return refusal(set.error());
  }
  JsonWriter out;
  out.begin_object().field("password", *password).end_object();
  return json(out);
}

Response get_roles(const Services&, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  return list(access::kRoles, std::nullopt, [](JsonWriter& out, Role role) {
    out.begin_object().field("role", access::to_text(role)).key("permissions").begin_list();
    for (const access::Permission permission : access::kPermissions) {
      if (access::allows(role, permission)) out.value(access::to_text(permission));
    }
    out.end_list().end_object();
  });
}

}  // namespace pennyweight::api
