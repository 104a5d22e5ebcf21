#include "api/people_routes.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "api/audit_log.h"
#include "api/guard.h"
#include "api/session_routes.h"
#include "api/token_routes.h"
#include "api/user_routes.h"
#include "api/view_routes.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr const char* kOpen = "";

}  // namespace

std::vector<server::Route> people_routes(const Parts& parts) {
  std::vector<server::Route> routes;
  const auto add = [&](const char* method, std::string_view path, const std::string& needs,
                       Response (*handler)(const Parts&, const Request&)) {
    routes.push_back({.method = method,
                      .path = fmt::format("/api/v1{}", path),
                      .open = needs == kOpen,
                      .handler = [parts, handler](const Request& r) { return handler(parts, r); },
                      .needs = needs});
  };
  const std::string signed_in(kSignedIn);
  add("GET", "/session", kOpen, get_session);
  add("POST", "/session", kOpen, sign_in);
  add("DELETE", "/session", signed_in, sign_out);
  add("PUT", "/session/password", "manage_own", change_password);
  add("POST", "/session/totp", "manage_own", begin_totp);
  add("PUT", "/session/totp", "manage_own", confirm_totp);
  add("DELETE", "/session/totp", "manage_own", remove_totp);
  add("GET", "/session/openid", kOpen, begin_openid);
  add("GET", "/session/openid/callback", kOpen, finish_openid);

  add("GET", "/users", "manage_users", get_users);
  add("POST", "/users", "manage_users", add_user);
  add("GET", "/users/{name}", "manage_users", get_user);
  add("PATCH", "/users/{name}", "manage_users", change_user);
  add("DELETE", "/users/{name}", "manage_users", remove_user);
  add("POST", "/users/{name}/password", "manage_users", reset_password);
  add("GET", "/roles", signed_in, [](const Parts&, const Request& r) { return get_roles(r); });

  add("GET", "/tokens", "manage_own", get_tokens);
  add("POST", "/tokens", "manage_own", add_token);
  add("DELETE", "/tokens/{id}", "manage_own", revoke_token);

  add("GET", "/views", "manage_own", get_views);
  add("POST", "/views", "manage_own", add_view);
  add("DELETE", "/views/{id}", "manage_own", remove_view);

  add("GET", "/audit", "read_audit", get_audit);
  add("GET", "/audit/verify", "read_audit", verify_audit);
  return routes;
}

}  // namespace pennyweight::api
