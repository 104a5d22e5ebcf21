#include "server/api/users.h"

#include <fmt/format.h>

#include <utility>

#include "config/config.h"
#include "reporting/queries/selection.h"
#include "server/access/password.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
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

// Reads the fields of a user from the body; absent ones stay as they are.
void take_user(JsonBody& body, const Policy& policy, User& user) {
  if (auto text = body.text("display_name")) user.display_name = *std::move(text);
  if (auto text = body.text("email")) user.email = *std::move(text);
  if (const auto text = body.text("role")) {
    const auto role = access::parse_role(*text);
    if (!role) body.reject("role", "must be viewer, team_lead, finance, operator or admin");
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
  const auto added = services.accounts.add_user(user, password, user.local);
  if (!added) return refusal(added.error());
  const std::string text = user_text(*added);
  if (auto recorded = append(services, request, "user.add", "user " + added->name, "", text);
      !recorded) {
    return not_recorded(recorded.error());
  }
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
  auto changed = services.accounts.change_user(user);
  if (!changed) return refusal(changed.error());
  if (!wants_totp && before->has_totp) {
    if (auto removed = services.accounts.remove_totp(user.name); !removed) {
      return refusal(removed.error());
    }
    changed->has_totp = false;
  }
  const std::string text = user_text(*changed);
  if (auto recorded =
          append(services, request, "user.change", "user " + user.name, user_text(*before), text);
      !recorded) {
    return not_recorded(recorded.error());
  }
  return json(text);
}

Response remove_user(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto before = existing(services, request.param("name"));
  if (!before) return refusal(before.error());
  if (auto removed = services.accounts.remove_user(before->name); !removed) {
    return refusal(removed.error());
  }
  if (auto recorded =
          append(services, request, "user.remove", "user " + before->name, user_text(*before), "");
      !recorded) {
    return not_recorded(recorded.error());
  }
  return {.status = 204};
}

Response reset_password(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto user = existing(services, request.param("name"));
  if (!user) return refusal(user.error());
  const auto password = access::one_time_password();
  if (!password) return refusal(password.error());
  if (auto set = services.accounts.set_password(user->name, *password, true); !set) {
    return refusal(set.error());
  }
  if (auto recorded =
          append(services, request, "user.password_reset", "user " + user->name, "", "");
      !recorded) {
    return not_recorded(recorded.error());
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
