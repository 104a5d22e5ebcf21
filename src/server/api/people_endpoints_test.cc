#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/api/accounts_proof.h"
#include "server/api/people_for_tests.h"
#include "server/api/recorded_change.h"
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
            R"(["read_costs","read_live","read_fleet","read_invoices","decide_advice",)"
            R"("manage_own","manage_budgets","approve"])");
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
  EXPECT_EQ(locked.headers.find("Retry-After")->second, "30");
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
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sign_in_from("203.0.113.7", "vic", "guess").status, 401);
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
  EXPECT_EQ(ask(program, "POST", "/views", R"({"name":"a","query":"/explore"})").status, 201);
  EXPECT_THAT(last_entry().actor, AllOf(HasSubstr("token t_"), HasSubstr(" (ada)")));
}

TEST_F(PeopleEndpointsTest, LetNoTokenGiveMoreThanItHas) {
  const auto program_with = [&](std::vector<access::Permission> only) {
    access::Token token;
    token.name = "test";
    token.user = "ada";
    token.only = std::move(only);
    token.expires_at = clock_.now() + std::chrono::hours(1);
    return Browser{.bearer = accounts_->add_token(token)->secret};
  };
  using access::Permission;
  // What the token was not made for needs a person who has just signed in.
  const Browser all = program_with({});
  for (const auto& [method, path] : {std::pair{"POST", "/users"},
                                     {"PATCH", "/users/vic"},
                                     {"DELETE", "/users/vic"},
                                     {"POST", "/users/vic/password"},
                                     {"DELETE", "/users/vic/sessions"},
                                     {"POST", "/periods/2026-03/close"}}) {
    EXPECT_EQ(ask(all, method, path, R"({"name":"neo"})").status, 403) << method << path;
  }
  const Browser named = program_with({Permission::kManageUsers});
  for (const char* role : {"admin", "viewer", "operator"}) {
    EXPECT_EQ(
        ask(named, "POST", "/users", fmt::format(R"({{"name":"neo","role":"{}"}})", role)).status,
        403)
        << role;
    EXPECT_EQ(ask(named, "PATCH", "/users/vic", fmt::format(R"({{"role":"{}"}})", role)).status,
              403)
        << role;
  }
  EXPECT_EQ(ask(named, "PATCH", "/users/fin", R"({"scope":[]})").status, 403);
  EXPECT_EQ(ask(named, "DELETE", "/users/fin").status, 403);
  EXPECT_EQ(ask(named, "POST", "/users/ada/password").status, 403);
  EXPECT_EQ(ask(named, "POST", "/users/vic/password").status, 403);
  EXPECT_EQ(ask(named, "PATCH", "/users/ada", R"({"disabled":true})").status, 403);
  // It may block people, which gives nobody anything.
  EXPECT_EQ(ask(named, "PATCH", "/users/vic", R"({"disabled":true})").status, 200);
  EXPECT_EQ(ask(named, "PATCH", "/users/vic", R"({"disabled":false})").status, 403);
  EXPECT_EQ(ask(named, "PATCH", "/users/fin", R"({"disabled":true,"role":"viewer"})").status, 403);

  const Browser viewers =
      program_with({Permission::kManageUsers, Permission::kReadCosts, Permission::kReadLive,
                    Permission::kReadFleet, Permission::kReadInvoices, Permission::kManageOwn});
  EXPECT_EQ(ask(viewers, "POST", "/users", R"({"name":"neo","role":"viewer"})").status, 201);
  EXPECT_EQ(ask(viewers, "POST", "/users", R"({"name":"max","role":"finance"})").status, 403);
  EXPECT_EQ(ask(viewers, "PATCH", "/users/neo", R"({"role":"admin"})").status, 403);
  EXPECT_EQ(ask(viewers, "PATCH", "/users/fin", R"({"role":"viewer"})").status, 403);
  EXPECT_EQ(ask(viewers, "DELETE", "/users/neo").status, 204);
}

TEST_F(PeopleEndpointsTest, AskForAFreshSignIn) {
  const Browser ada = browser_of("ada");
  const std::string neo = R"({"name":"neo","role":"viewer"})";
  clock_.advance(std::chrono::minutes(15));
  const Answer stale = ask(ada, "POST", "/users", neo);
  EXPECT_EQ(stale.status, 403);
  EXPECT_EQ(text_in(stale.body, "/needs"), "fresh_sign_in");
  EXPECT_EQ(text_in(stale.body, "/by"), "password");
  EXPECT_EQ(ask(ada, "PATCH", "/users/vic", R"({"role":"admin"})").status, 403);
  EXPECT_EQ(ask(ada, "POST", "/users/vic/password").status, 403);
  EXPECT_EQ(ask(ada, "POST", "/session/totp").status, 403);
  EXPECT_EQ(
      ask(ada, "POST", "/tokens", R"({"name":"x","expires_at":"2026-03-21T00:00:00Z"})").status,
      403);
  EXPECT_EQ(ask(ada, "POST", "/periods/2026-03/close").status, 403);
  EXPECT_EQ(ask(ada, "GET", "/users").status, 200) << "reading needs none";

  EXPECT_EQ(ask(ada, "POST", "/session/confirm", R"({"password":"wrong"})").status, 422);
  EXPECT_EQ(ask(ada, "POST", "/users", neo).status, 403);
  const std::string right = fmt::format(R"({{"password":"{}"}})", access::kPassword);
  EXPECT_EQ(ask({.cookie = ada.cookie}, "POST", "/session/confirm", right).status, 403) << "CSRF";
  EXPECT_EQ(ask(ada, "POST", "/session/confirm", right).status, 204);
  EXPECT_EQ(last_entry().action, "sign_in_confirm");
  EXPECT_EQ(ask(ada, "POST", "/users", neo).status, 201);
  // Another session of the same user is not confirmed by it.
  clock_.advance(std::chrono::minutes(15));
  const Browser other = browser_of("ada");
  EXPECT_EQ(ask(ada, "DELETE", "/users/neo").status, 403);
  EXPECT_EQ(ask(other, "DELETE", "/users/neo").status, 204);
}

TEST_F(PeopleEndpointsTest, ShowAndEndSessions) {
  const Browser one = browser_of("vic");
  const Browser two = browser_of("vic");
  const Browser fin = browser_of("fin");
  const Answer list = ask(one, "GET", "/sessions");
  EXPECT_EQ(entries_in(list.body), 2u) << list.body;
  EXPECT_EQ(text_in(list.body, "/data/0/user"), "vic");
  EXPECT_EQ(text_in(list.body, "/data/0/peer"), "127.0.0.1");
  EXPECT_THAT(list.body, testing::Not(HasSubstr("hash")));
  EXPECT_EQ(ask(one, "GET", "/sessions?user=fin").status, 403);
  const Browser ada = browser_of("ada");
  EXPECT_EQ(entries_in(ask(ada, "GET", "/sessions?user=vic").body), 2u);
  const std::string of_fin = text_in(ask(fin, "GET", "/sessions").body, "/data/0/id");
  EXPECT_EQ(ask(one, "DELETE", "/sessions/" + of_fin).status, 404) << "another user's";
  EXPECT_EQ(ask(one, "DELETE", "/sessions").status, 200);
  EXPECT_EQ(last_entry().action, "session.end_all");
  EXPECT_EQ(ask(two, "GET", "/costs").status, 401);
  EXPECT_EQ(entries_in(ask(one, "GET", "/sessions").body), 1u);
  EXPECT_EQ(ask(ada, "DELETE", "/users/vic/sessions").status, 200);
  EXPECT_EQ(ask(one, "GET", "/sessions").status, 401);
  EXPECT_EQ(ask(fin, "DELETE", "/sessions/" + of_fin).status, 204);
  EXPECT_EQ(ask(fin, "GET", "/sessions").status, 401);
}

TEST_F(PeopleEndpointsTest, APasswordResetRevokesTokens) {
  access::Token token;
  token.name = "stolen";
  token.user = "vic";
  token.expires_at = clock_.now() + std::chrono::hours(1);
  const Browser program{.bearer = accounts_->add_token(token)->secret};
  EXPECT_EQ(ask(program, "GET", "/roles").status, 200);
  const Browser ada = browser_of("ada");
  EXPECT_EQ(ask(ada, "POST", "/users/vic/password").status, 200);
  EXPECT_EQ(last_entry().after, R"({"tokens_revoked":1})");
  EXPECT_EQ(ask(program, "GET", "/roles").status, 401);
}

// Whatever is asked for while the log can't be written: nothing changes.
TEST_F(PeopleEndpointsTest, ChangeNothingThatCantBeRecorded) {
  const Browser ada = browser_of("ada");
  const Browser vic = browser_of("vic");
  const std::string users = ask(ada, "GET", "/users").body;
  const std::string key = audit_log_path() + ".head";
  std::filesystem::rename(audit_log_path(), audit_log_path() + ".away");
  for (const auto& [browser, method, path, body] :
       std::initializer_list<std::tuple<Browser, std::string, std::string, std::string>>{
           {ada, "POST", "/users", R"({"name":"neo","role":"admin"})"},
           {ada, "PATCH", "/users/vic", R"({"role":"admin"})"},
           {ada, "DELETE", "/users/vic", ""},
           {ada, "POST", "/users/vic/password", ""},
           {ada, "POST", "/tokens", R"({"name":"x","expires_at":"2026-03-21T00:00:00Z"})"},
           {vic, "PUT", "/session/password",
            fmt::format(R"({{"old":"{}","new":"quiet-river-77-moss"}})", access::kPassword)},
           {vic, "POST", "/views", R"({"name":"a","query":"/explore"})"},
           {vic, "DELETE", "/session", ""},
           {ada, "POST", "/periods/2026-03/close", ""}}) {
    EXPECT_EQ(ask(browser, method, path, body).status, 503) << method << path;
  }
  EXPECT_EQ(sign_in_as("vic", access::kPassword).status, 503);
  EXPECT_EQ(ask(ada, "GET", "/users").body, users);
  EXPECT_EQ(entries_in(ask(vic, "GET", "/tokens").body), 0u);
  EXPECT_EQ(ask(vic, "GET", "/session").status, 200);
  std::filesystem::rename(audit_log_path() + ".away", audit_log_path());
  EXPECT_EQ(ask(ada, "PATCH", "/users/vic", R"({"role":"operator"})").status, 200);
  EXPECT_EQ(text_in(ask(ada, "GET", "/audit/verify").body, "/whole"), "true");
}

// A killed process leaves a line whose change was not committed.
TEST_F(PeopleEndpointsTest, MarkALineWhoseChangeNeverHappened) {
  ASSERT_TRUE(settle_lines(*accounts_, *audit_log_));
  const Browser ada = browser_of("ada");
  ASSERT_TRUE(audit_log_->append({.actor = "ada",
                                  .action = "user.add",
                                  .subject = "user ghost",
                                  .after = R"({"name":"ghost","role":"admin"})"}));
  const std::uint64_t number = last_entry().number;
  const auto before = compare_accounts_with_log(*accounts_, audit_log_path());
  ASSERT_TRUE(before);
  ASSERT_EQ(before->size(), 1U);
  EXPECT_THAT(before->front().text, HasSubstr("ghost"));
  ASSERT_TRUE(settle_lines(*accounts_, *audit_log_));
  EXPECT_EQ(last_entry().action, "undone");
  EXPECT_EQ(last_entry().subject, fmt::format("entry {}", number));
  const std::size_t all = entries();
  ASSERT_TRUE(settle_lines(*accounts_, *audit_log_));
  EXPECT_EQ(entries(), all) << "once";
  EXPECT_EQ(text_in(ask(ada, "GET", "/audit/verify").body, "/whole"), "true");
}

TEST_F(PeopleEndpointsTest, FindUsersAndRolesWithoutAnEntry) {
  const Browser ada = browser_of("ada");
  add(user("eve", access::Role::kAdmin));
  EXPECT_THAT(text_in(ask(ada, "GET", "/audit/verify").body, "/reason"),
              HasSubstr("user eve (admin) is in the accounts, and no entry made them"));
  ASSERT_TRUE(accounts_->remove_user("eve"));
  EXPECT_EQ(text_in(ask(ada, "GET", "/audit/verify").body, "/whole"), "true");
  access::User vic = **accounts_->find_user("vic");
  vic.role = access::Role::kAdmin;
  ASSERT_TRUE(accounts_->change_user(vic));
  EXPECT_THAT(text_in(ask(ada, "GET", "/audit/verify").body, "/reason"),
              HasSubstr("user vic has the role admin, and entry"));
}

TEST_F(PeopleEndpointsTest, SumUpRefusedSignIns) {
  const std::size_t before = entries();
  for (int i = 0; i < 40; ++i) sign_in_as("nobody", "guess");
  EXPECT_EQ(entries(), before + 2) << "wrong, and locked out";
  clock_.advance(std::chrono::minutes(1));
  sign_in_as("somebody", "guess");
  const Browser ada = browser_of("ada");
  const Answer log = ask(ada, "GET", "/audit?action=sign_in_failed");
  EXPECT_EQ(text_in(log.body, "/data/0/after/reason"), "wrong");
  std::uint64_t times = 0;
  for (int i = 1; i <= 2; ++i) {
    times += std::stoull(text_in(log.body, fmt::format("/data/{}/after/times", i)));
  }
  EXPECT_EQ(times, 38U);
  for (int i = 0; i < 100; ++i) sign_in_as("user" + std::to_string(i), "guess");
  EXPECT_LE(entries(), before + 30);
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

TEST_F(PeopleEndpointsTest, WhoHasLeftEveryGroupLosesSessionsAndTokensAtOnce) {
  const Browser bound{.cookie = "pennyweight-openid=c1"};
  const std::string back = "/session/openid/callback?code=x&state=s1";
  const auto comes_back = [&] {
    ask({}, "GET", "/session/openid?next=/");
    return ask(bound, "GET", back);
  };
  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "42",
                        .name = "lia",
                        .display_name = "Lia",
                        .email = "",
                        .role = "admin"};
  const Browser lia = browser_from(comes_back());
  access::Token wanted;
  wanted.name = "grafana";
  wanted.user = "lia";
  wanted.expires_at = clock_.now() + std::chrono::hours(999);
  const auto token = accounts_->add_token(wanted);
  ASSERT_TRUE(token);
  EXPECT_TRUE(*accounts_->bearer(token->secret));
  EXPECT_EQ(ask(lia, "GET", "/roles").status, 200);

  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "42",
                        .name = "",
                        .display_name = "",
                        .email = "",
                        .not_entitled = "no value of the claim groups has a role here"};
  EXPECT_EQ(comes_back().status, 403);
  EXPECT_FALSE(*accounts_->bearer(token->secret));
  EXPECT_EQ(ask(lia, "GET", "/roles").status, 401);
  const auto log = audit_log_->entries(0, 2, [](const audit_log::Entry&) { return true; });
  ASSERT_TRUE(log);
  EXPECT_EQ((*log)[1].action, "user.unvouched");
  EXPECT_EQ((*log)[1].subject, "user lia");
  EXPECT_EQ((*log)[0].action, "sign_in_failed");

  // Back in a group, and signed in again, everything is as before.
  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "42",
                        .name = "lia",
                        .display_name = "Lia",
                        .email = "",
                        .role = "viewer"};
  EXPECT_EQ(comes_back().status, 302);
  EXPECT_TRUE(*accounts_->bearer(token->secret));

  // A stranger without a group is nobody's change.
  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "43",
                        .name = "",
                        .display_name = "",
                        .email = "",
                        .not_entitled = "no role"};
  EXPECT_EQ(comes_back().status, 403);
  EXPECT_EQ(last_entry().action, "sign_in_failed");
  EXPECT_TRUE(*accounts_->bearer(token->secret));
}

TEST_F(PeopleEndpointsTest, WhoSignsOutAtTheProviderIsSignedOutHere) {
  const Browser bound{.cookie = "pennyweight-openid=c1"};
  provider_.identity = {.issuer = "https://sso.example",
                        .subject = "42",
                        .name = "lia",
                        .display_name = "Lia",
                        .email = "",
                        .role = "admin"};
  ask({}, "GET", "/session/openid?next=/");
  const Browser lia = browser_from(ask(bound, "GET", "/session/openid/callback?code=x&state=s1"));
  access::Token wanted;
  wanted.name = "grafana";
  wanted.user = "lia";
  wanted.expires_at = clock_.now() + std::chrono::hours(999);
  const auto token = accounts_->add_token(wanted);
  ASSERT_TRUE(token);
  provider_.identity.not_entitled = "signed out at the provider";

  const httplib::Headers form = {{"Content-Type", "application/x-www-form-urlencoded"}};
  const std::string path = "/session/openid/logout";
  // Neither the session nor its CSRF token is what counts, but the provider's signature.
  EXPECT_EQ(ask(lia, "POST", path, "{}").status, 415);
  EXPECT_EQ(ask({}, "POST", path, "token=signed", form).status, 400);
  EXPECT_EQ(ask({}, "POST", path, "logout_token=signed&logout_token=signed", form).status, 400);
  EXPECT_EQ(ask({}, "POST", path, "logout_token=forged", form).status, 400);
  EXPECT_EQ(ask(lia, "GET", "/roles").status, 200);
  EXPECT_TRUE(*accounts_->bearer(token->secret));

  // While nothing can be changed the provider must be able to send it again.
  std::filesystem::rename(audit_log_path(), audit_log_path() + ".away");
  EXPECT_EQ(ask({}, "POST", path, "logout_token=signed", form).status, 503);
  EXPECT_EQ(provider_.sign_outs_done, 0);
  std::filesystem::rename(audit_log_path() + ".away", audit_log_path());
  EXPECT_EQ(ask({}, "POST", path, "logout_token=signed", form).status, 200);
  EXPECT_EQ(provider_.sign_outs_done, 1);
  EXPECT_EQ(last_entry().action, "user.unvouched");
  EXPECT_EQ(last_entry().subject, "user lia");
  EXPECT_EQ(ask(lia, "GET", "/roles").status, 401);
  EXPECT_FALSE(*accounts_->bearer(token->secret));
  // Somebody who was never here.
  provider_.identity.subject = "43";
  EXPECT_EQ(ask({}, "POST", path, "logout_token=signed", form).status, 200);
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
  EXPECT_EQ(entries_in(roles.body), 6u);
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

TEST_F(PeopleEndpointsTest, SendViewsToOneself) {
  const Browser ada = browser_of("ada"), vic = browser_of("vic");
  const auto added = [&](const Browser& who, const char* query) {
    const std::string body = std::string(R"({"name":")") + query + R"(","query":")" + query + "\"}";
    return text_in(ask(who, "POST", "/views", body).body, "/id");
  };
  const std::string weekly = "/views/" + added(ada, "/explore?by=team") + "/schedule";
  // Without an address there is nobody to send it to.
  EXPECT_EQ(ask(ada, "PUT", weekly, R"({"every":"week"})").status, 422);
  ASSERT_EQ(ask(ada, "PATCH", "/users/ada", R"({"email":"ada@example.org"})").status, 200);
  const Answer set = ask(ada, "PUT", weekly, R"({"every":"week"})");
  EXPECT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(text_in(set.body, "/schedule/every"), "week");
  EXPECT_EQ(last_entry().action, "view.schedule");
  EXPECT_THAT(last_entry().after, HasSubstr("week"));
  EXPECT_EQ(ask(ada, "PUT", weekly, R"({"every":"hour"})").status, 422);
  EXPECT_EQ(ask(ada, "PUT", weekly, R"({"every":"day","receiver":"nobody"})").status, 422);
  EXPECT_EQ(ask(vic, "PUT", weekly, R"({"every":"day"})").status, 404);
  EXPECT_EQ(ask(vic, "DELETE", weekly).status, 404);
  const std::string fleet = "/views/" + added(ada, "/fleet") + "/schedule";
  EXPECT_EQ(ask(ada, "PUT", fleet, R"({"every":"day"})").status, 422);
  EXPECT_EQ(ask(ada, "DELETE", weekly).status, 204);
  EXPECT_EQ(last_entry().action, "view.unschedule");
  EXPECT_EQ(text_in(ask(ada, "GET", "/views").body, "/data/0/schedule"), "null");
}

TEST_F(PeopleEndpointsTest, KeepAnnotationsOfCostsForThoseWhoSeeThem) {
  const Browser ada = browser_of("ada"), fin = browser_of("fin"), tea = browser_of("tea");
  const std::size_t entries_before = entries();
  const auto write = [&](const Browser& who, const std::string& more) {
    return ask(who, "POST", "/annotations",
               R"({"first":"2026-03-02","text":"moved",)" + more + "}");
  };
  const Answer of_all = write(fin, R"("last":"2026-03-05")");
  EXPECT_EQ(of_all.status, 201) << of_all.body;
  EXPECT_EQ(text_in(of_all.body, "/last"), "2026-03-05");
  EXPECT_EQ(text_in(of_all.body, "/who"), "fin");
  EXPECT_EQ(last_entry().action, "annotation.add");
  EXPECT_THAT(last_entry().after, HasSubstr("moved"));
  const Answer for_everyone = write(fin, R"("for_everyone":true)");
  const Answer of_nlp = write(tea, R"("filter":["team=nlp"])");
  const Answer of_cv = write(ada, R"("filter":["team=cv"])");
  EXPECT_EQ(of_nlp.status, 201) << of_nlp.body;
  EXPECT_EQ(of_cv.status, 201) << of_cv.body;
  // Users with a scope write about what lies in it, and for those who see it.
  EXPECT_EQ(write(tea, R"("filter":["team=nlp,cv"])").status, 403);
  EXPECT_EQ(write(tea, R"("filter":["team!=cv"])").status, 403);
  EXPECT_EQ(write(tea, R"("filter":[])").status, 403);
  EXPECT_EQ(write(tea, R"("filter":["team=nlp"],"for_everyone":true)").status, 403);
  EXPECT_EQ(write(browser_of("vic"), R"("filter":["team=nlp"])").status, 403);

  EXPECT_EQ(entries_in(ask(fin, "GET", "/annotations").body), 4u);
  const Answer seen = ask(tea, "GET", "/annotations");
  EXPECT_EQ(entries_in(seen.body), 2u) << seen.body;
  EXPECT_EQ(text_in(seen.body, "/data/0/id"), text_in(of_nlp.body, "/id"));
  EXPECT_EQ(text_in(seen.body, "/data/0/removable"), "true");
  EXPECT_EQ(text_in(seen.body, "/data/1/removable"), "false");
  // Days that overlap, a page at a time.
  EXPECT_EQ(entries_in(ask(fin, "GET", "/annotations?from=2026-03-03").body), 1u);
  EXPECT_EQ(entries_in(ask(fin, "GET", "/annotations?to=2026-03-01").body), 0u);
  EXPECT_EQ(entries_in(ask(fin, "GET", "/annotations?from=2026-03-05&to=2026-04-01").body), 1u);
  const Answer page = ask(fin, "GET", "/annotations?limit=3");
  EXPECT_EQ(entries_in(page.body), 3u);
  const Answer rest = ask(fin, "GET", "/annotations?cursor=" + text_in(page.body, "/next"));
  EXPECT_EQ(entries_in(rest.body), 1u);
  EXPECT_EQ(text_in(rest.body, "/data/0/id"), text_in(of_all.body, "/id"));

  // What one can't see does not exist; what somebody else wrote stays, but for an admin.
  const auto remove = [&](const Browser& who, const Answer& one) {
    return ask(who, "DELETE", "/annotations/" + text_in(one.body, "/id")).status;
  };
  EXPECT_EQ(remove(tea, of_cv), 404);
  EXPECT_EQ(remove(tea, for_everyone), 403);
  EXPECT_EQ(remove(browser_of("sam"), for_everyone), 403);
  EXPECT_EQ(remove(fin, of_nlp), 403);
  EXPECT_EQ(ask(fin, "DELETE", "/annotations/x").status, 404);
  EXPECT_EQ(ask(fin, "DELETE", "/annotations/1").status, 404);
  EXPECT_EQ(remove(tea, of_nlp), 204);
  EXPECT_EQ(remove(ada, for_everyone), 204);
  EXPECT_EQ(last_entry().action, "annotation.remove");
  EXPECT_THAT(last_entry().before, HasSubstr("moved"));
  EXPECT_EQ(remove(ada, for_everyone), 404);
  EXPECT_EQ(entries() - entries_before, 6u + 2u) << "with the sign-ins of vic and sam";

  for (const char* wrong :
       {R"("last":"2026-03-01")", R"("last":"2027-03-03")", R"("filter":["colour=red"])",
        R"("filter":"team=nlp")", R"("filter":["team"])", R"("for_everyone":"yes")",
        R"("colour":"red")", R"("last":"2026-02-30")"}) {
    EXPECT_EQ(write(fin, wrong).status, 422) << wrong;
  }
  EXPECT_EQ(write(fin, fmt::format(R"("filter":["team={}"])", std::string(1'000, 'x'))).status,
            422);
  EXPECT_EQ(write(fin, R"("last":"2027-03-02")").status, 201);
  for (const char* body :
       {"{}", R"({"first":"2026-03-02"})", R"({"first":"2026-03-02","text":" "})",
        R"({"first":"2026-03-02","text":"a\u0000b"})", R"({"text":"a"})"}) {
    EXPECT_EQ(ask(fin, "POST", "/annotations", body).status, 422) << body;
  }
  const auto of_bytes = [](std::size_t bytes) {
    return fmt::format(R"({{"first":"2026-03-02","text":"{}"}})", std::string(bytes, 'x'));
  };
  EXPECT_EQ(ask(fin, "POST", "/annotations", of_bytes(501)).status, 422);
  EXPECT_EQ(ask(fin, "POST", "/annotations", of_bytes(500)).status, 201);
}

TEST_F(PeopleEndpointsTest, KeepWhatIsKnownOfDaysToCome) {
  const Browser ada = browser_of("ada"), fin = browser_of("fin"), tea = browser_of("tea");
  const auto put = [&](const Browser& who, const std::string& name, const std::string& body) {
    return ask(who, "PUT", "/known-events/" + name, body);
  };
  const std::string holiday = R"({"from":"2026-12-25","to":"2026-12-26","percent":10})";
  const std::string of_nlp = R"({"from":"2026-05-01","key":"nlp","by":"team","per_day":"120 USD"})";
  const std::string of_cv = R"({"from":"2026-05-01","key":"cv","by":"team","per_day":"120 USD"})";
  const Answer made = put(fin, "holiday", holiday);
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(text_in(made.body, "/effect"), "10 % remain");
  EXPECT_EQ(text_in(made.body, "/changeable"), "true");
  EXPECT_EQ(last_entry().action, "event.set");
  EXPECT_THAT(last_entry().after, HasSubstr("2026-12-25"));
  // Users with a scope say what they know of its values, with their dimension.
  EXPECT_EQ(put(tea, "client", of_nlp).status, 200);
  EXPECT_EQ(put(ada, "leaves", of_cv).status, 200);
  EXPECT_EQ(put(tea, "other", of_cv).status, 403);
  EXPECT_EQ(put(tea, "other", holiday).status, 403);
  EXPECT_EQ(put(tea, "other", R"({"from":"2026-05-01","key":"nlp","per_day":"1 USD"})").status,
            403);
  EXPECT_EQ(put(tea, "holiday", of_nlp).status, 403);
  EXPECT_EQ(put(tea, "leaves", of_nlp).status, 403);
  EXPECT_EQ(put(browser_of("vic"), "x", of_nlp).status, 403);

  EXPECT_EQ(entries_in(ask(fin, "GET", "/known-events").body), 3u);
  const Answer seen = ask(tea, "GET", "/known-events");
  EXPECT_EQ(entries_in(seen.body), 2u) << seen.body;
  EXPECT_EQ(text_in(seen.body, "/data/0/event/name"), "client");
  EXPECT_EQ(text_in(seen.body, "/data/0/changeable"), "true");
  EXPECT_EQ(text_in(seen.body, "/data/1/changeable"), "false");
  const Answer page = ask(fin, "GET", "/known-events?limit=2");
  EXPECT_EQ(entries_in(ask(fin, "GET", "/known-events?cursor=" + text_in(page.body, "/next")).body),
            1u);

  EXPECT_EQ(
      put(tea, "client", R"({"from":"2026-06-01","key":"nlp","by":"team","percent":150})").status,
      200);
  EXPECT_THAT(last_entry().before, HasSubstr("2026-05-01"));
  EXPECT_EQ(entries_in(ask(tea, "GET", "/known-events/client/versions").body), 2u);
  EXPECT_EQ(ask(tea, "GET", "/known-events/leaves/versions").status, 404);
  EXPECT_EQ(ask(tea, "DELETE", "/known-events/leaves").status, 404);
  EXPECT_EQ(ask(tea, "DELETE", "/known-events/holiday").status, 403);
  EXPECT_EQ(ask(fin, "DELETE", "/known-events/nothing").status, 404);
  EXPECT_EQ(ask(tea, "DELETE", "/known-events/client").status, 204);
  EXPECT_EQ(last_entry().action, "event.remove");
  EXPECT_EQ(entries_in(ask(tea, "GET", "/known-events/client/versions").body), 3u);

  for (const char* wrong :
       {"", "{}", R"({"from":"2026-05-01"})", R"({"from":"2026-02-30","percent":1})",
        R"({"from":"2026-05-01","percent":1,"colour":"red"})",
        R"({"from":"2026-05-01","percent":1,"name":"b"})",
        R"({"from":"2026-05-01","percent":1,"key":"a","by":"colour"})",
        R"({"from":"2026-05-01","percent":-1})", R"({"from":"2026-05-01","per_day":"1 USD"})"}) {
    EXPECT_EQ(put(fin, "a", wrong).status, 422) << wrong;
  }
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
