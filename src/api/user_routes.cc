#include "api/user_routes.h"

#include <fmt/format.h>

#include <utility>

#include "access/password.h"
#include "api/answers.h"
#include "api/audit_log.h"
#include "api/books.h"
#include "config/config.h"
#include "questions/selection.h"

namespace pennyweight::api {
namespace {

using access::Role;
using access::User;
using server::Request;
using server::Response;

constexpr std::string_view kList = "users";

Result<User> existing(const Parts& parts, const std::string& name) {
  const auto user = parts.accounts.find_user(name);
  if (!user) return std::unexpected(user.error());
  if (!*user) return fail(ErrorCode::kNotFound, fmt::format("there is no user '{}'", name));
  return **user;
}

// What of the body is about a user. What it does not state is left.
void take_user(JsonBody& body, const Policy& policy, User& user) {
  if (auto text = body.text("display_name")) user.display_name = *std::move(text);
  if (auto text = body.text("email")) user.email = *std::move(text);
  if (const auto text = body.text("role")) {
    const auto role = access::parse_role(*text);
    if (!role) body.wrong("role", "it is viewer, team_lead, finance, operator or admin");
    user.role = role.value_or(user.role);
  }
  if (auto scope = body.scope("scope")) {
    const auto known = check_dimensions_of(*scope, policy);
    if (!known) body.wrong("scope", known.error().message);
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

Response get_users(const Parts& parts, const Request& request) {
  Asked asked(request);
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto users = parts.accounts.users();
  if (!users) return refusal(users.error());
  const auto part =
      page_of(kList, page, *std::move(users), [](const User& user) { return user.name; });
  return list(part.entries, part.next,
              [](JsonWriter& out, const User& user) { out.raw(user_text(user)); });
}

Response add_user(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  User user;
  user.name = body.need("name");
  take_user(body, parts.config.policy, user);
  user.subject = body.text("subject").value_or("");
  user.local = body.truth("local").value_or(user.subject.empty());
  if (!user.local && user.subject.empty()) {
    body.wrong("subject",
               "who does not sign in here needs one: the issuer, a blank, and the "
               "subject of OpenID Connect");
  }
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  std::string password;
  if (user.local) {
    auto made = access::one_time_password();
    if (!made) return refusal(made.error());
    password = *std::move(made);
  }
  const auto added = parts.accounts.add_user(user, password, user.local);
  if (!added) return refusal(added.error());
  const std::string text = user_text(*added);
  if (auto told = append(parts, request, "user.add", "user " + added->name, "", text); !told) {
    return not_recorded(told.error());
  }
  JsonWriter out;
  out.begin_object()
      .raw_field("user", text)
      .field("password", user.local ? std::optional(password) : std::nullopt)
      .end_object();
  return json(out, 201);
}

Response get_user(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto user = existing(parts, request.param("name"));
  return user ? json(user_text(*user)) : refusal(user.error());
}

Response change_user(const Parts& parts, const Request& request) {
  Asked asked(request);
  JsonBody body(request);
  const auto before = existing(parts, request.param("name"));
  if (!before) return refusal(before.error());
  User user = *before;
  take_user(body, parts.config.policy, user);
  if (const auto disabled = body.truth("disabled")) user.disabled = *disabled;
  // Who has lost his second factor is let in again by taking it away; he alone adds one.
  const bool wants_totp = body.truth("has_totp").value_or(before->has_totp);
  if (wants_totp && !before->has_totp) body.wrong("has_totp", "he adds it himself");
  if (auto no = asked.refused()) return *std::move(no);
  if (auto no = body.refused()) return *std::move(no);
  auto changed = parts.accounts.change_user(user);
  if (!changed) return refusal(changed.error());
  if (!wants_totp && before->has_totp) {
    if (auto removed = parts.accounts.remove_totp(user.name); !removed) {
      return refusal(removed.error());
    }
    changed->has_totp = false;
  }
  const std::string text = user_text(*changed);
  if (auto told =
          append(parts, request, "user.change", "user " + user.name, user_text(*before), text);
      !told) {
    return not_recorded(told.error());
  }
  return json(text);
}

Response remove_user(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto before = existing(parts, request.param("name"));
  if (!before) return refusal(before.error());
  if (auto removed = parts.accounts.remove_user(before->name); !removed) {
    return refusal(removed.error());
  }
  if (auto told =
          append(parts, request, "user.remove", "user " + before->name, user_text(*before), "");
      !told) {
    return not_recorded(told.error());
  }
  return {.status = 204};
}

Response reset_password(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  const auto user = existing(parts, request.param("name"));
  if (!user) return refusal(user.error());
  const auto password = access::one_time_password();
  if (!password) return refusal(password.error());
  if (auto set = parts.accounts.set_password(user->name, *password, true); !set) {
    return refusal(set.error());
  }
  if (auto told = append(parts, request, "user.password_reset", "user " + user->name, "", "");
      !told) {
    return not_recorded(told.error());
  }
  JsonWriter out;
  out.begin_object().field("password", *password).end_object();
  return json(out);
}

Response get_roles(const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  return list(access::kRoles, std::nullopt, [](JsonWriter& out, Role role) {
    out.begin_object().field("role", access::to_text(role)).key("permissions").begin_list();
    for (const access::Permission permission : access::kPermissions) {
      if (access::allows(role, permission)) out.value(access::to_text(permission));
    }
    out.end_list().end_object();
  });
}

}  // namespace pennyweight::api
