#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/api/people_for_tests.h"
#include "server/api/routes.h"

namespace pennyweight::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PeopleEndpointsTest : public PeopleTest {
 protected:
  PeopleEndpointsTest() { serve(); }

  Answer sign_in_as(const std::string& name, const std::string& password,
                    const std::string& code = "") {
    return ask({}, "POST", "/session",
               fmt::format(R"({{"user":"{}","password":"{}","code":"{}"}})", name, password, code));
  }
};

TEST_F(PeopleEndpointsTest, ReportTheSignedInUserAndTheWaysToSignIn) {
  const Answer nobody = ask({}, "GET", "/session");
  EXPECT_EQ(nobody.body,
            "{\"user\":null,\"version\":\"1.2.3\",\"sign_in\":{\"password\":true,"
            "\"openid\":{\"name\":\"Example SSO\"}}}\n");
  const Answer in = sign_in_as("tea", access::kPassword);
  EXPECT_EQ(in.status, 200);
  EXPECT_THAT(in.headers.find("Set-Cookie")->second,
              AllOf(testing::StartsWith("pennyweight="), HasSubstr("; Path=/; Max-Age=43200; "),
                    HasSubstr("HttpOnly; SameSite=Lax"), Not(HasSubstr("Secure"))));
  const Answer somebody = ask(browser_from(in), "GET", "/session");
  EXPECT_EQ(somebody.body, in.body);
  EXPECT_EQ(text_in(in.body, "/user/name"), "tea");
  EXPECT_EQ(text_in(in.body, "/user/scope"), R"([{"dimension":"team","values":["nlp"]}])");
  // The role has read_rules, but it is denied to users with a scope.
  EXPECT_EQ(text_in(in.body, "/permissions"),
            R"(["read_costs","read_live","read_fleet","read_invoices","manage_own"])");
  EXPECT_EQ(text_in(in.body, "/must_change_password"), "false");
  EXPECT_EQ(last_entry().action, "sign_in");
  EXPECT_EQ(last_entry().actor, "tea");
  EXPECT_EQ(last_entry().peer, "127.0.0.1");
}

TEST_F(PeopleEndpointsTest, RefuseInTheSameWordsWhetherThereIsSuchAUser) {
  const Answer wrong = sign_in_as("vic", "not the password");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(last_entry().action, "sign_in_failed");
  EXPECT_EQ(last_entry().subject, "user vic");
  EXPECT_EQ(last_entry().after, R"({"reason":"wrong"})");
  const Answer unknown = sign_in_as("hunter2-typed-as-name", "x");
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.body, wrong.body);
  // The typed text may be a password.
  EXPECT_EQ(last_entry().subject, "an unknown user");
  EXPECT_EQ(last_entry().actor, "");
  EXPECT_FALSE(unknown.headers.contains("Set-Cookie"));
  EXPECT_EQ(ask({}, "POST", "/session", "{}").status, 422);
  EXPECT_EQ(ask({}, "POST", "/session", "[]").status, 400);
  EXPECT_EQ(ask({}, "POST", "/session?user=vic", R"({"user":"vic","password":"x"})").status, 422);
}

TEST_F(PeopleEndpointsTest, LockOutPasswordGuessing) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sign_in_as("vic", "guess").status, 401);
  const Answer locked = sign_in_as("vic", access::kPassword);
  EXPECT_EQ(locked.status, 429);
  EXPECT_EQ(locked.headers.find("Retry-After")->second, "900");
  EXPECT_EQ(last_entry().after, R"({"reason":"locked out"})");
  clock_.advance(std::chrono::minutes(15));
  EXPECT_EQ(sign_in_as("vic", access::kPassword).status, 200);
}

TEST_F(PeopleEndpointsTest, LockOutTheClientAndNotItsProxy) {
  trusted_proxies_ = {{.address = *server::parse_address("127.0.0.1"), .bits = 128}};
  serve();
  const auto sign_in_from = [&](const std::string& address, const std::string& name,
                                const std::string& password) {
    return ask({}, "POST", "/session",
               fmt::format(R"({{"user":"{}","password":"{}"}})", name, password),
               {{"X-Forwarded-For", "198.51.100.1, " + address}, {"X-Forwarded-Proto", "https"}});
  };
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(sign_in_from("203.0.113.7", name, "guess").status, 401);
  }
  EXPECT_EQ(last_entry().peer, "203.0.113.7");
  EXPECT_EQ(sign_in_from("203.0.113.7", "vic", access::kPassword).status, 429);
  const Answer other = sign_in_from("203.0.113.8", "vic", access::kPassword);
  EXPECT_EQ(other.status, 200);
  EXPECT_THAT(other.headers.find("Set-Cookie")->second,
              AllOf(testing::StartsWith("__Host-pennyweight="), HasSubstr("; Secure")));
  // Headers that the client wrote itself don't change its address.
  EXPECT_EQ(sign_in_from("203.0.113.8, 203.0.113.7", "vic", access::kPassword).status, 429);
}

TEST_F(PeopleEndpointsTest, EndASessionAtOnce) {
  const Browser vic = browser_of("vic");
  EXPECT_EQ(ask({.cookie = vic.cookie}, "DELETE", "/session").status, 403);
  const Answer out = ask(vic, "DELETE", "/session");
  EXPECT_EQ(out.status, 204);
  EXPECT_THAT(out.headers.find("Set-Cookie")->second,
              testing::StartsWith("pennyweight=; Path=/; Max-Age=0; "));
  EXPECT_EQ(last_entry().action, "sign_out");
  EXPECT_EQ(text_in(ask(vic, "GET", "/session").body, "/user"), "null");
  EXPECT_EQ(ask(vic, "GET", "/roles").status, 401);
}

TEST_F(PeopleEndpointsTest, ChangeOnesOwnPassword) {
  const Browser vic = browser_of("vic"), elsewhere = browser_of("vic");
  const auto change = [&](const std::string& from, const std::string& to) {
    return ask(vic, "PUT", "/session/password",
               fmt::format(R"({{"old":"{}","new":"{}"}})", from, to));
  };
  EXPECT_THAT(change("wrong", "quiet-river-77-moss").body, HasSubstr("old: "));
  EXPECT_EQ(last_entry().action, "sign_in_failed");
  const Answer weak = change(access::kPassword, "short");
  EXPECT_EQ(weak.status, 422);
  EXPECT_THAT(weak.body, HasSubstr("new: "));
  EXPECT_EQ(change(access::kPassword, "quiet-river-77-moss").status, 204);
  EXPECT_EQ(last_entry().action, "password.change");
  EXPECT_EQ(last_entry().after, "");
  // This session stays, others end.
  EXPECT_EQ(ask(vic, "GET", "/roles").status, 200);
  EXPECT_EQ(ask(elsewhere, "GET", "/roles").status, 401);
  EXPECT_EQ(sign_in_as("vic", access::kPassword).status, 401);
  EXPECT_EQ(sign_in_as("vic", "quiet-river-77-moss").status, 200);
}

TEST_F(PeopleEndpointsTest, AddAndRemoveASecondFactor) {
  const Browser vic = browser_of("vic");
  const Answer begun = ask(vic, "POST", "/session/totp");
  ASSERT_EQ(begun.status, 200) << begun.body;
  const std::string secret = text_in(begun.body, "/secret");
  EXPECT_THAT(text_in(begun.body, "/uri"), HasSubstr("otpauth://totp/"));
  EXPECT_THAT(text_in(begun.body, "/qr_svg"), HasSubstr("<svg"));
  EXPECT_EQ(ask(vic, "PUT", "/session/totp", R"({"code":"abc"})").status, 422);
  const auto code = [&] { return code_of_base32(secret); };
  EXPECT_EQ(ask(vic, "PUT", "/session/totp", fmt::format(R"({{"code":"{}"}})", code())).status,
            204);
  EXPECT_EQ(last_entry().action, "totp.add");
  EXPECT_EQ(text_in(ask(vic, "GET", "/session").body, "/user/has_totp"), "true");

  clock_.advance(std::chrono::minutes(1));
  const std::uint64_t before = entries();
  const Answer half = sign_in_as("vic", access::kPassword);
  EXPECT_EQ(half.status, 401);
  EXPECT_EQ(half.headers.find("Content-Type")->second, "application/problem+json");
  EXPECT_EQ(text_in(half.body, "/needs"), "code");
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(sign_in_as("vic", access::kPassword, "000000").status, 401);
  EXPECT_EQ(sign_in_as("vic", access::kPassword, code()).status, 200);
  // A code works once.
  EXPECT_EQ(sign_in_as("vic", access::kPassword, code()).status, 401);

  EXPECT_EQ(ask(vic, "DELETE", "/session/totp", R"({"password":"x"})").status, 422);
  EXPECT_EQ(
      ask(vic, "DELETE", "/session/totp", fmt::format(R"({{"password":"{}"}})", access::kPassword))
          .status,
      204);
  EXPECT_EQ(last_entry().action, "totp.remove");
  EXPECT_EQ(sign_in_as("vic", access::kPassword).status, 200);
}

TEST_F(PeopleEndpointsTest, LetNoTokenChangeItsOwnUser) {
  access::Token token;
  token.name = "test";
  token.user = "ada";
  token.expires_at = clock_.now() + std::chrono::hours(1);
  const Browser program{.bearer = accounts_->add_token(token)->secret};
  EXPECT_EQ(ask(program, "GET", "/session").status, 200);
  EXPECT_EQ(ask(program, "DELETE", "/session").status, 403);
  EXPECT_EQ(ask(program, "POST", "/session/totp").status, 403);
  EXPECT_EQ(ask(program, "PUT", "/session/password",
                fmt::format(R"({{"old":"{}","new":"quiet-river-77-moss"}})", access::kPassword))
                .status,
            403);
  EXPECT_EQ(
      ask(program, "POST", "/tokens", R"({"name":"x","expires_at":"2026-03-21T00:00:00Z"})").status,
      403);
  EXPECT_EQ(ask(program, "POST", "/users", R"({"name":"neo"})").status, 201);
  EXPECT_THAT(last_entry().actor, AllOf(HasSubstr("token t_"), HasSubstr(" (ada)")));
}

TEST_F(PeopleEndpointsTest, SignInByOpenIdMakesAUserAndFollowsTheirClaims) {
  const Answer to = ask({}, "GET", "/session/openid?next=/explore");
  EXPECT_EQ(to.status, 302);
  EXPECT_EQ(to.headers.find("Location")->second, "https://sso.example/authorize?state=s1");
  EXPECT_THAT(
      to.headers.find("Set-Cookie")->second,
      AllOf(HasSubstr("pennyweight-openid=c1; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")));
  const Browser bound{.cookie = "pennyweight-openid=c1"};
  const std::string back = "/session/openid/callback?code=x&state=s1";

  EXPECT_EQ(ask({}, "GET", back).status, 401);
  EXPECT_EQ(ask(bound, "GET", "/session/openid/callback?code=x&state=other").status, 401);
  EXPECT_EQ(last_entry().action, "sign_in_failed");
  EXPECT_FALSE(*accounts_->find_user("lia"));

  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "42",
                        .name = "lia",
                        .display_name = "Lia",
                        .email = "lia@example.com",
                        .role = "team_lead",
                        .scope = {{.dimension = "team", .values = {"nlp"}}}};
  const Answer in = ask(bound, "GET", back);
  EXPECT_EQ(in.status, 302) << in.body;
  EXPECT_EQ(in.headers.find("Location")->second, "/explore");
  const auto made = *accounts_->find_subject("https://sso.example 42");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "lia");
  EXPECT_FALSE(made->local);
  EXPECT_EQ(last_entry().action, "sign_in");
  const Browser lia = browser_from(in);
  const Answer session = ask(lia, "GET", "/session");
  EXPECT_EQ(text_in(session.body, "/user/role"), "team_lead");
  EXPECT_EQ(text_in(session.body, "/user/scope/0/values/0"), "nlp");

  // Changed claims change the user; the log has the state before.
  provider_.identity.role = "viewer";
  provider_.identity.scope = {{.dimension = "team", .values = {"ads"}}};
  EXPECT_EQ(ask(bound, "GET", back).status, 302);
  const auto changed = *accounts_->find_user("lia");
  EXPECT_EQ(changed->role, access::Role::kViewer);
  EXPECT_EQ(changed->scope.front().values.front(), "ads");
  EXPECT_EQ(ask(lia, "GET", "/roles").status, 401);
  const auto log = audit_log_->entries(0, 2, [](const audit_log::Entry&) { return true; });
  EXPECT_EQ((*log)[1].action, "user.change");
  EXPECT_EQ((*log)[1].actor, "openid");

  // The provider can't claim the name of a local user, and refused users get no session.
  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "43",
                        .name = "ada",
                        .display_name = "",
                        .email = "",
                        .role = "viewer"};
  const Answer taken = ask(bound, "GET", back);
  EXPECT_EQ(taken.status, 403);
  EXPECT_THAT(taken.body, HasSubstr("another user is called 'ada'"));
  provider_.identity.subject = "42";
  auto disabled = *changed;
  disabled.disabled = true;
  ASSERT_TRUE(accounts_->change_user(disabled));
  EXPECT_EQ(ask(bound, "GET", back).status, 403);
  EXPECT_EQ(last_entry().after, R"({"reason":"disabled"})");
}

TEST_F(PeopleEndpointsTest, ManageUsers) {
  const Browser ada = browser_of("ada");
  EXPECT_EQ(ask(browser_of("fin"), "GET", "/users").status, 403);
  EXPECT_EQ(ask(browser_of("sam"), "GET", "/users").status, 403);
  const Answer all = ask(ada, "GET", "/users?limit=2");
  EXPECT_EQ(text_in(all.body, "/data/0/name"), "ada");
  EXPECT_EQ(text_in(all.body, "/data/1/name"), "fin");
  const Answer rest = ask(ada, "GET", "/users?cursor=" + text_in(all.body, "/next"));
  EXPECT_EQ(entries_in(rest.body), 3u);
  EXPECT_EQ(text_in(rest.body, "/next"), "null");
  EXPECT_EQ(ask(ada, "GET", "/users?cursor=x").status, 422);
  EXPECT_EQ(ask(ada, "GET", "/users?offset=3").status, 422);

  const Answer added = ask(ada, "POST", "/users",
                           R"({"name":"bo","display_name":"Bo","role":"team_lead",)"
                           R"("scope":[{"dimension":"team","values":["ads"]}]})");
  EXPECT_EQ(added.status, 201) << added.body;
  const std::string password = text_in(added.body, "/password");
  EXPECT_EQ(text_in(added.body, "/user/must_change_password"), "true");
  EXPECT_EQ(last_entry().action, "user.add");
  EXPECT_EQ(last_entry().actor, "ada");
  EXPECT_EQ(last_entry().before, "");
  EXPECT_EQ(text_in(last_entry().after, "/role"), "team_lead");
  EXPECT_THAT(last_entry().after, Not(HasSubstr(password)));
  EXPECT_EQ(text_in(sign_in_as("bo", password).body, "/must_change_password"), "true");
  EXPECT_EQ(ask(ada, "POST", "/users", R"({"name":"bo"})").status, 409);
  EXPECT_EQ(ask(ada, "POST", "/users", R"({"name":"Bo Berg"})").status, 422);
  EXPECT_EQ(ask(ada, "POST", "/users", R"({"name":"x","role":"root"})").status, 422);
  EXPECT_EQ(ask(ada, "POST", "/users", R"({"name":"x","local":false})").status, 422);
  EXPECT_EQ(text_in(ask(ada, "POST", "/users", R"({"name":"x","subject":"https://a b"})").body,
                    "/password"),
            "null");

  // With an unknown dimension the user would see nothing, and nobody would know why.
  const Answer no_such =
      ask(ada, "PATCH", "/users/bo", R"({"scope":[{"dimension":"taem","values":["ads"]}]})");
  EXPECT_EQ(no_such.status, 422);
  EXPECT_NE(no_such.body.find("there is no dimension 'taem'"), std::string::npos) << no_such.body;

  const Answer changed = ask(ada, "PATCH", "/users/bo", R"({"role":"finance","scope":[]})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(text_in(changed.body, "/display_name"), "Bo");
  EXPECT_EQ(text_in(last_entry().before, "/role"), "team_lead");
  EXPECT_EQ(text_in(last_entry().after, "/role"), "finance");
  EXPECT_EQ(ask(ada, "PATCH", "/users/bo", R"({"has_totp":true})").status, 422);
  EXPECT_EQ(ask(ada, "PATCH", "/users/nobody", R"({"role":"viewer"})").status, 404);
  EXPECT_EQ(ask(ada, "PATCH", "/users/ada", R"({"role":"viewer"})").status, 409);

  const Answer reset = ask(ada, "POST", "/users/bo/password");
  EXPECT_EQ(reset.status, 200);
  EXPECT_EQ(last_entry().action, "user.password_reset");
  EXPECT_EQ(sign_in_as("bo", password).status, 401);
  EXPECT_EQ(sign_in_as("bo", text_in(reset.body, "/password")).status, 200);

  EXPECT_EQ(ask(ada, "DELETE", "/users/bo").status, 204);
  EXPECT_EQ(last_entry().action, "user.remove");
  EXPECT_EQ(last_entry().after, "");
  EXPECT_EQ(ask(ada, "GET", "/users/bo").status, 404);
  EXPECT_EQ(ask(ada, "DELETE", "/users/bo").status, 404);
}

TEST_F(PeopleEndpointsTest, TakeALostSecondFactorAway) {
  const Browser vic = browser_of("vic");
  const std::string secret = text_in(ask(vic, "POST", "/session/totp").body, "/secret");
  ASSERT_EQ(
      ask(vic, "PUT", "/session/totp", fmt::format(R"({{"code":"{}"}})", code_of_base32(secret)))
          .status,
      204);
  const Answer changed = ask(browser_of("ada"), "PATCH", "/users/vic", R"({"has_totp":false})");
  EXPECT_EQ(text_in(changed.body, "/has_totp"), "false");
  EXPECT_EQ(text_in(last_entry().before, "/has_totp"), "true");
  EXPECT_EQ(sign_in_as("vic", access::kPassword).status, 200);
}

TEST_F(PeopleEndpointsTest, MakeAndRevokeTokens) {
  const Browser ada = browser_of("ada"), vic = browser_of("vic");
  const Answer made =
      ask(vic, "POST", "/tokens",
          R"({"name":"export","only":["read_costs"],"expires_at":"2026-04-01T00:00:00Z",)"
          R"("scope":[{"dimension":"team","values":["ads"]}]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string secret = text_in(made.body, "/secret"), id = text_in(made.body, "/token/id");
  EXPECT_EQ(text_in(made.body, "/token/only"), R"(["read_costs"])");
  EXPECT_THAT(last_entry().after, Not(HasSubstr(secret)));
  const Browser program{.bearer = secret};
  EXPECT_EQ(text_in(ask(program, "GET", "/session").body, "/permissions"), R"(["read_costs"])");
  EXPECT_EQ(ask(program, "GET", "/tokens").status, 403);

  EXPECT_EQ(entries_in(ask(vic, "GET", "/tokens").body), 1u);
  EXPECT_EQ(entries_in(ask(ada, "GET", "/tokens").body), 0u);
  EXPECT_EQ(entries_in(ask(ada, "GET", "/tokens?user=*").body), 1u);
  EXPECT_EQ(entries_in(ask(ada, "GET", "/tokens?user=vic").body), 1u);
  EXPECT_EQ(ask(vic, "GET", "/tokens?user=*").status, 403);
  EXPECT_EQ(ask(vic, "GET", "/tokens?user=ada").status, 403);
  const std::string for_ada = R"({"name":"x","user":"ada","expires_at":"2026-04-01T00:00:00Z"})";
  EXPECT_EQ(ask(vic, "POST", "/tokens", for_ada).status, 403);
  EXPECT_EQ(ask(ada, "POST", "/tokens", for_ada).status, 201);
  EXPECT_EQ(ask(vic, "POST", "/tokens", R"({"name":"x"})").status, 422);
  EXPECT_EQ(ask(vic, "POST", "/tokens", R"({"name":"x","expires_at":"2020-01-01"})").status, 422);
  EXPECT_EQ(
      ask(vic, "POST", "/tokens", R"({"name":"x","only":[],"expires_at":"2026-04-01T00:00:00Z"})")
          .status,
      422);
  EXPECT_EQ(ask(vic, "POST", "/tokens",
                R"({"name":"x","only":["manage_users"],"expires_at":"2026-04-01T00:00:00Z"})")
                .status,
            422);

  EXPECT_EQ(ask(browser_of("fin"), "DELETE", "/tokens/" + id).status, 404);
  EXPECT_EQ(ask(ada, "DELETE", "/tokens/" + id).status, 204);
  EXPECT_EQ(last_entry().action, "token.revoke");
  EXPECT_EQ(text_in(ask(program, "GET", "/session").body, "/user"), "null");
}

TEST_F(PeopleEndpointsTest, ListRoles) {
  const Answer roles = ask(browser_of("vic"), "GET", "/roles");
  EXPECT_EQ(entries_in(roles.body), 5u);
  EXPECT_EQ(text_in(roles.body, "/data/0/role"), "viewer");
  EXPECT_THAT(text_in(roles.body, "/data/4/permissions"), HasSubstr("manage_users"));
}

TEST_F(PeopleEndpointsTest, KeepViewsForOneselfAndForOthers) {
  const Browser ada = browser_of("ada"), vic = browser_of("vic"), tea = browser_of("tea");
  const Answer saved =
      ask(ada, "POST", "/views", R"({"name":"NLP","query":"/explore?by=team","shared":true})");
  EXPECT_EQ(saved.status, 201) << saved.body;
  EXPECT_EQ(text_in(saved.body, "/mine"), "true");
  EXPECT_EQ(last_entry().action, "view.add");
  EXPECT_EQ(ask(ada, "POST", "/views", R"({"name":"own","query":"/fleet"})").status, 201);
  EXPECT_EQ(ask(ada, "POST", "/views", R"({"name":"x","query":"//evil.example"})").status, 422);
  EXPECT_EQ(ask(ada, "POST", "/views", R"({"name":"own","query":"/"})").status, 409);
  EXPECT_EQ(entries_in(ask(ada, "GET", "/views").body), 2u);
  const Answer seen = ask(vic, "GET", "/views");
  EXPECT_EQ(entries_in(seen.body), 1u);
  EXPECT_EQ(text_in(seen.body, "/data/0/mine"), "false");
  EXPECT_EQ(entries_in(ask(tea, "GET", "/views").body), 0u);
  const std::string id = text_in(saved.body, "/id");
  EXPECT_EQ(ask(vic, "DELETE", "/views/" + id).status, 404);
  EXPECT_EQ(ask(vic, "DELETE", "/views/x").status, 404);
  EXPECT_EQ(ask(ada, "DELETE", "/views/" + id).status, 204);
  EXPECT_EQ(last_entry().action, "view.remove");
  const Answer page = ask(ada, "GET", "/views?limit=1");
  EXPECT_EQ(text_in(page.body, "/data/0/name"), "own");
}

TEST_F(PeopleEndpointsTest, ShowTheAuditLogAndProveIt) {
  const Browser ada = browser_of("ada"), fin = browser_of("fin");
  ask(ada, "POST", "/users", R"({"name":"bo"})");
  ask(ada, "PATCH", "/users/bo", R"({"role":"finance"})");
  EXPECT_EQ(ask(browser_of("vic"), "GET", "/audit").status, 403);
  EXPECT_EQ(ask(browser_of("sam"), "GET", "/audit").status, 403);
  const Answer first = ask(fin, "GET", "/audit?limit=3");
  EXPECT_EQ(entries_in(first.body), 3u);
  EXPECT_EQ(text_in(first.body, "/data/0/subject"), "user sam");
  const Answer more = ask(fin, "GET", "/audit?before=" + text_in(first.body, "/next"));
  EXPECT_EQ(entries_in(more.body) + 3, entries());
  EXPECT_EQ(text_in(more.body, "/next"), "null");
  const Answer changes = ask(fin, "GET", "/audit?action=user.change&actor=ada");
  EXPECT_EQ(entries_in(changes.body), 1u);
  EXPECT_EQ(text_in(changes.body, "/data/0/before/role"), "viewer");
  EXPECT_EQ(text_in(changes.body, "/data/0/after/role"), "finance");
  EXPECT_EQ(text_in(changes.body, "/data/0/peer"), "127.0.0.1");
  EXPECT_EQ(ask(fin, "GET", "/audit?before=0").status, 422);

  const Answer whole = ask(fin, "GET", "/audit/verify");
  EXPECT_EQ(text_in(whole.body, "/whole"), "true") << whole.body;
  EXPECT_EQ(text_in(whole.body, "/head/number"), std::to_string(entries()));
  EXPECT_EQ(text_in(whole.body, "/bad_line"), "null");

  // One byte.
  std::fstream file(audit_log_path(), std::ios::in | std::ios::out | std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t at = text.find("finance");
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file.put('F');
  file.close();
  const Answer altered = ask(fin, "GET", "/audit/verify");
  EXPECT_EQ(text_in(altered.body, "/whole"), "false");
  EXPECT_NE(text_in(altered.body, "/bad_line"), "null");
  EXPECT_NE(text_in(altered.body, "/reason"), "null");
}

TEST_F(PeopleEndpointsTest, FindALogWhoseEndIsMissing) {
  const Browser fin = browser_of("fin");
  std::string text;
  {
    std::ifstream file(audit_log_path(), std::ios::binary);
    text.assign((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  browser_of("vic");
  std::ofstream(audit_log_path(), std::ios::binary | std::ios::trunc) << text;
  const Answer cut = ask(fin, "GET", "/audit/verify");
  EXPECT_EQ(text_in(cut.body, "/whole"), "false") << cut.body;
}

}  // namespace
}  // namespace pennyweight::api
