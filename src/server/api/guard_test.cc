#include "server/api/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/api/people_for_tests.h"

namespace pennyweight::api {
namespace {

using access::Permission;
using access::Role;
using testing::HasSubstr;

server::Route probe(std::string method, std::string path, std::string permission,
                    bool open = false) {
  return {.method = std::move(method),
          .path = "/api/v1" + std::move(path),
          .open = open,
          .handler =
              [](const server::Request& request) {
                const auto* who = std::any_cast<access::Principal>(&request.principal);
                return server::Response{.body = who == nullptr ? "nobody" : who->name};
              },
          .permission = std::move(permission)};
}

class GuardTest : public PeopleTest {
 protected:
  void serve_probes(const GuardLimits& limits = {}) {
    std::vector<server::Route> probes = {probe("GET", "/probe/open", "", true),
                                         probe("GET", "/probe/forgotten", ""),
                                         probe("GET", "/probe/misspelt", "read_cost"),
                                         probe("GET", "/probe/any", "signed_in"),
                                         probe("POST", "/probe/change", "manage_own"),
                                         probe("PUT", "/probe/change", "manage_own"),
                                         probe("PATCH", "/probe/change", "manage_own"),
                                         probe("DELETE", "/probe/change", "manage_own")};
    for (const Permission permission : access::kPermissions) {
      const std::string name(access::to_text(permission));
      probes.push_back(probe("GET", "/probe/" + name, name));
    }
    serve(std::move(probes), limits);
  }
  std::string token_of(const std::string& user, std::vector<Permission> only = {},
                       std::vector<SummaryFilter> scope = {}) {
    access::Token token;
    token.name = "test";
    token.user = user;
    token.only = std::move(only);
    token.scope = std::move(scope);
    token.expires_at = clock_.now() + std::chrono::hours(1);
    const auto made = accounts_->add_token(token);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? made->secret : "";
  }
};

TEST_F(GuardTest, IdentifiesTheCaller) {
  serve_probes();
  EXPECT_EQ(ask({}, "GET", "/probe/open").body, "nobody");
  const Answer nobody = ask({}, "GET", "/probe/any");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.headers.find("WWW-Authenticate")->second, "Bearer");
  EXPECT_EQ(ask(browser_of("vic"), "GET", "/probe/any").body, "vic");
  EXPECT_EQ(ask({.bearer = token_of("fin")}, "GET", "/probe/any").body, "fin");
  // A token counts if it is sent, even a wrong one.
  Browser both = browser_of("vic");
  both.bearer = "pwt_wrong";
  EXPECT_EQ(ask(both, "GET", "/probe/any").status, 401);
  EXPECT_EQ(ask({}, "GET", "/probe/any", "", {{"Authorization", "Basic dmljOng="}}).status, 401);
  EXPECT_EQ(ask({.cookie = "pennyweight=wrong"}, "GET", "/probe/any").status, 401);
  // The cookie for TLS counts over TLS only.
  Browser other = browser_of("vic");
  other.cookie = "__Host-" + other.cookie;
  EXPECT_EQ(ask(other, "GET", "/probe/any").status, 401);
}

TEST_F(GuardTest, DeniesRoutesWithoutAPermission) {
  serve_probes();
  const Browser ada = browser_of("ada");
  EXPECT_EQ(ask(ada, "GET", "/probe/forgotten").status, 403);
  EXPECT_EQ(ask(ada, "GET", "/probe/misspelt").status, 403);
}

TEST_F(GuardTest, AsksForThePermissionOfTheRole) {
  serve_probes();
  const std::vector<std::pair<std::string, Role>> users = {
      {"ada", Role::kAdmin}, {"vic", Role::kViewer}, {"fin", Role::kFinance}};
  for (const auto& [name, role] : users) {
    const Browser browser = browser_of(name);
    for (const Permission permission : access::kPermissions) {
      const std::string path = fmt::format("/probe/{}", access::to_text(permission));
      EXPECT_EQ(ask(browser, "GET", path).status, access::allows(role, permission) ? 200 : 403)
          << name << path;
    }
  }
}

TEST_F(GuardTest, DeniesUnscopableRoutesToScopedUsers) {
  serve_probes();
  const std::set<std::string_view> allowed = {"read_costs",     "read_live",  "read_fleet",
                                              "read_invoices",  "manage_own", "decide_advice",
                                              "manage_budgets", "approve",    "read_statements"};
  // An admin with a scope, and an admin's token with one.
  const std::vector<Browser> scoped = {
      browser_of("sam"),
      {.bearer = token_of("ada", {}, {{.dimension = "team", .values = {"nlp"}}})}};
  for (const Browser& browser : scoped) {
    for (const Permission permission : access::kPermissions) {
      const std::string path = fmt::format("/probe/{}", access::to_text(permission));
      EXPECT_EQ(ask(browser, "GET", path).status,
                allowed.contains(access::to_text(permission)) ? 200 : 403)
          << path;
    }
  }
}

TEST_F(GuardTest, HoldsATokenToItsLimits) {
  serve_probes();
  const Browser token{.bearer = token_of("ada", {Permission::kReadCosts})};
  EXPECT_EQ(ask(token, "GET", "/probe/read_costs").status, 200);
  EXPECT_EQ(ask(token, "GET", "/probe/read_live").status, 403);
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(ask(token, "GET", "/probe/read_costs").status, 401);
}

TEST_F(GuardTest, WantsProofOfOurPageForChangesWithACookie) {
  serve_probes();
  const Browser vic = browser_of("vic");
  for (const char* const method : {"POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_EQ(ask(vic, method, "/probe/change").status, 200) << method;
    EXPECT_EQ(ask({.cookie = vic.cookie}, method, "/probe/change").status, 403) << method;
    EXPECT_EQ(ask({.cookie = vic.cookie, .csrf = "x"}, method, "/probe/change").status, 403);
    EXPECT_EQ(
        ask({.cookie = vic.cookie, .csrf = browser_of("fin").csrf}, method, "/probe/change").status,
        403);
    EXPECT_EQ(ask({.bearer = token_of("vic")}, method, "/probe/change").status, 200) << method;
  }
  EXPECT_EQ(ask({.cookie = vic.cookie}, "GET", "/probe/any").status, 200);
}

TEST_F(GuardTest, AllowsOnlyTheChangeWhereAPasswordMustBeChanged) {
  ASSERT_TRUE(accounts_->add_user(user("new"), access::kPassword, true));
  serve_probes();
  const Browser browser = browser_of("new");
  const Answer refused = ask(browser, "GET", "/probe/read_costs");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("Change the one-time password"));
  EXPECT_EQ(ask(browser, "GET", "/probe/any").status, 403);
  EXPECT_EQ(ask(browser, "POST", "/probe/change").status, 403);
  EXPECT_EQ(ask(browser, "GET", "/views").status, 403);
  EXPECT_EQ(ask(browser, "GET", "/session").status, 200);
  EXPECT_EQ(ask(browser, "PUT", "/session/password",
                fmt::format(R"({{"old":"{}","new":"quiet-river-77-moss"}})", access::kPassword))
                .status,
            204);
  EXPECT_EQ(ask(browser, "GET", "/probe/read_costs").status, 200);
}

TEST_F(GuardTest, LetsMachinesInWithoutAnAccountToWhatTheyAreFor) {
  machines_ = {.tokens = {"fixed-token"}};
  serve_probes();
  const Browser machine{.bearer = "fixed-token"};
  const std::set<std::string_view> allowed = {"send_telemetry", "read_metrics", "read_live"};
  for (const Permission permission : access::kPermissions) {
    const std::string path = fmt::format("/probe/{}", access::to_text(permission));
    EXPECT_EQ(ask(machine, "GET", path).status,
              allowed.contains(access::to_text(permission)) ? 200 : 403)
        << path;
  }
  EXPECT_EQ(ask(machine, "GET", "/probe/any").status, 403);
  EXPECT_EQ(ask(machine, "DELETE", "/session").status, 403);
  EXPECT_EQ(text_in(ask(machine, "GET", "/session").body, "/user"), "null");
  EXPECT_EQ(ask({.bearer = "fixed-toke"}, "GET", "/probe/read_live").status, 401);
  EXPECT_EQ(ask({}, "GET", "/probe/read_live").status, 401);
}

TEST_F(GuardTest, TrustsLoopbackOnlyWithNothingToShow) {
  machines_ = {.tokens = {}, .trust_loopback = true};
  serve_probes();
  EXPECT_EQ(ask({}, "GET", "/probe/send_telemetry").status, 200);
  EXPECT_EQ(ask({}, "GET", "/probe/read_costs").status, 403);
  EXPECT_EQ(ask({}, "POST", "/probe/change").status, 403);
  EXPECT_EQ(ask({.bearer = "wrong"}, "GET", "/probe/send_telemetry").status, 401);
  EXPECT_EQ(ask({.cookie = "pennyweight=over"}, "GET", "/probe/send_telemetry").status, 401);
  for (const auto& [name, value] :
       std::multimap<std::string, std::string>{{"Authorization", "Basic eDp5"},
                                               {"Authorization", "Bearer "},
                                               {"Origin", "https://evil.example"},
                                               {"X-Forwarded-For", "10.0.0.1"}}) {
    EXPECT_EQ(ask({}, "GET", "/probe/send_telemetry", "", {{name, value}}).status, 401) << name;
  }
}

TEST_F(GuardTest, LimitsTheRequestRate) {
  serve_probes(
      {.principal = {.per_second = 1, .burst = 3}, .address = {.per_second = 1, .burst = 5}});
  const Browser ada{.bearer = token_of("ada")};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(ada, "GET", "/probe/any").status, 200);
  const Answer refused = ask(ada, "GET", "/probe/any");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.find("Retry-After")->second, "1");
  // Users are limited by name, not by address; telemetry is never limited.
  EXPECT_EQ(ask({.bearer = token_of("vic")}, "GET", "/probe/any").status, 200);
  EXPECT_EQ(ask(ada, "GET", "/probe/send_telemetry").status, 200);
  // By address: guessing tokens, and open routes.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask({.bearer = "x"}, "GET", "/probe/any").status, 401);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask({}, "GET", "/probe/open").status, 200);
  EXPECT_EQ(ask({}, "GET", "/probe/open").status, 429);
  EXPECT_EQ(ask({.bearer = "x"}, "GET", "/probe/any").status, 429);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(ask({}, "GET", "/probe/open").status, 200);
  EXPECT_EQ(ask(ada, "GET", "/probe/any").status, 200);
}

}  // namespace
}  // namespace pennyweight::api
