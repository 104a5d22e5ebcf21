#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "server/access/accounts_file.h"
#include "server/access/accounts_for_tests.h"
#include "server/access/totp.h"

namespace pennyweight::access {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class SignIns : public AccountsTest {
 protected:
  std::string code_at(const std::string& secret, std::int64_t off = 0) {
    return totp_code(secret, totp_step(clock_.now()) + off);
  }
  // Returns the secret of the second factor, whose current code is used up.
  std::string enrol(const std::string& name) {
    const auto begun = accounts_->begin_totp(name);
    EXPECT_TRUE(begun) << begun.error().message;
    const std::string secret = from_base32(begun->secret);
    EXPECT_EQ(accounts_->confirm_totp(name, code_at(secret)), true);
    return secret;
  }
};

TEST_F(SignIns, LetInWithTheRightPasswordOnly) {
  add(user("bo", Role::kFinance, {{"team", {"nlp"}}}));
  const SignIn done = sign_in("bo");
  EXPECT_EQ(done.secret.size(), 43u);
  EXPECT_EQ(done.expires_at, clock_.now() + hours(12));
  const auto principal = accounts_->session(done.secret);
  ASSERT_TRUE(principal && *principal);
  EXPECT_EQ((*principal)->name, "bo");
  EXPECT_EQ((*principal)->role, Role::kFinance);
  EXPECT_EQ((*principal)->scope.size(), 1u);
  EXPECT_EQ((*principal)->by, SignedInBy::kPassword);
  EXPECT_EQ((*principal)->session, done.principal.session);
  EXPECT_EQ((*principal)->csrf, done.principal.csrf);
  EXPECT_EQ((*principal)->csrf.size(), 43u);
  EXPECT_EQ((*principal)->only, std::nullopt);
  EXPECT_EQ(done.principal.session.find(done.secret), std::string::npos);

  EXPECT_EQ(refusal("BO"), std::nullopt);  // as people type it
  EXPECT_EQ(refusal("bo", "tin-otter-42-lamP"), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", ""), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", std::string(5000, 'x')), Refusal::kWrong);
  EXPECT_EQ(refusal("nobody"), Refusal::kWrong);
}

TEST_F(SignIns, EverySecretIsAnother) {
  add(user("bo"));
  std::set<std::string> seen;
  for (int i = 0; i < 10; ++i) {
    const SignIn done = sign_in("bo");
    EXPECT_TRUE(seen.insert(done.secret).second);
    EXPECT_TRUE(seen.insert(done.principal.csrf).second);
    EXPECT_TRUE(seen.insert(done.principal.session).second);
  }
}

TEST_F(SignIns, AnEmptyPasswordIsAlwaysWrong) {
  ASSERT_TRUE(accounts_->add_user(user("service"), "", false));
  EXPECT_EQ(refusal("service", ""), Refusal::kWrong);
  EXPECT_EQ(refusal("", ""), Refusal::kWrong);
}

// As far as a clock can tell: the work is the same, so neither takes half as long as the other. On
// a machine with other work some try of each meets no delay.
TEST_F(SignIns, AnUnknownUserTakesAsLongAsAKnownOne) {
  options_.argon2_kib = 4096;
  options_.failures_max = 1000;
  open();
  add(user("bo"));
  using Steady = std::chrono::steady_clock;
  Steady::duration somebody = seconds(60), nobody = seconds(60);
  const auto time_one = [&](const char* name, Steady::duration& shortest) {
    const auto begin = Steady::now();
    EXPECT_EQ(refusal(name, "wrong"), Refusal::kWrong);
    shortest = std::min(shortest, Steady::now() - begin);
  };
  for (int tries = 0;
       tries < 5 || (tries < 100 && (nobody * 2 <= somebody || somebody * 2 <= nobody)); ++tries) {
    time_one("bo", somebody);
    time_one("nobody", nobody);
  }
  EXPECT_GT(nobody * 2, somebody);
  EXPECT_GT(somebody * 2, nobody);
}

TEST_F(SignIns, SessionsEndAtSignOut) {
  add(user("bo"));
  const SignIn first = sign_in("bo");
  const SignIn second = sign_in("bo");
  ASSERT_TRUE(accounts_->sign_out(first.secret));
  EXPECT_FALSE(is_signed_in(first.secret));
  EXPECT_TRUE(is_signed_in(second.secret));
  EXPECT_TRUE(accounts_->sign_out(first.secret));  // signed out already
  for (const std::string& secret : {std::string(), std::string("x"), second.principal.session,
                                    second.principal.csrf, second.secret + "A"}) {
    EXPECT_FALSE(is_signed_in(secret)) << secret;
  }
}

TEST_F(SignIns, SessionsEndWhenIdle) {
  add(user("bo"));
  const SignIn done = sign_in("bo");
  clock_.advance(minutes(120) - milliseconds(1));
  EXPECT_TRUE(is_signed_in(done.secret));
  clock_.advance(minutes(120) - milliseconds(1));
  EXPECT_TRUE(is_signed_in(done.secret));
  open();  // the idle end is on disk
  clock_.advance(minutes(120));
  EXPECT_FALSE(is_signed_in(done.secret));
  EXPECT_FALSE(is_signed_in(done.secret));
}

TEST_F(SignIns, SessionsEndForGood) {
  add(user("bo"));
  const SignIn done = sign_in("bo");
  for (int i = 0; i < 11; ++i) {
    clock_.advance(hours(1));
    ASSERT_TRUE(is_signed_in(done.secret)) << i;
  }
  clock_.advance(hours(1) - milliseconds(1));
  EXPECT_TRUE(is_signed_in(done.secret));
  clock_.advance(milliseconds(1));
  EXPECT_FALSE(is_signed_in(done.secret));
}

TEST_F(SignIns, OfAUserTheOldestSessionsGo) {
  add(user("bo"));
  add(user("cy"));
  const SignIn other = sign_in("cy");
  std::vector<SignIn> sessions;
  for (std::size_t i = 0; i < kSessionsPerUserMax + 5; ++i) {
    sessions.push_back(sign_in("bo"));
    clock_.advance(seconds(1));
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    EXPECT_EQ(is_signed_in(sessions[i].secret), i >= 5) << i;
  }
  EXPECT_TRUE(is_signed_in(other.secret));
}

TEST_F(SignIns, WrongPasswordsMakeTheUserWaitAtThatAddressLongerEachTime) {
  add(user("bo"));
  add(user("cy"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(refusal("bo", "wrong"), Refusal::kWrong);
  EXPECT_EQ(refusal("bo"), Refusal::kLockedOut);
  EXPECT_EQ(refusal("bO"), Refusal::kLockedOut);
  EXPECT_EQ(refusal("cy"), std::nullopt) << "others at the address don't wait";
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.1.9"), std::nullopt) << "nor bo elsewhere";
  EXPECT_EQ(accounts_->lock_out_left("bo", "10.0.0.1"), milliseconds(30'000));
  open();  // a restart unlocks nobody
  for (const int waited : {30, 60, 120, 240, 480, 900, 900}) {
    clock_.advance(seconds(waited) - milliseconds(1));
    EXPECT_EQ(refusal("bo"), Refusal::kLockedOut) << waited;
    clock_.advance(milliseconds(1));
    EXPECT_EQ(refusal("bo", "wrong"), Refusal::kWrong) << waited;
  }
  clock_.advance(minutes(15));
  EXPECT_EQ(refusal("bo"), std::nullopt);
  EXPECT_EQ(refusal("bo", "wrong"), Refusal::kWrong);
  EXPECT_EQ(refusal("bo"), std::nullopt) << "the success has forgiven the failures before it";
}

TEST_F(SignIns, AnUnknownUserWaitsLikeAKnownOne) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(refusal("nobody", "wrong"), Refusal::kWrong);
  EXPECT_EQ(refusal("nobody", "wrong"), Refusal::kLockedOut);
  EXPECT_EQ(accounts_->lock_out_left("nobody", "10.0.0.1"), milliseconds(30'000));
}

// The right password of a disabled user must not be told from a wrong one by the lock-out.
TEST_F(SignIns, ADisabledUserWaitsLikeAnUnknownOne) {
  add(user("bo"));
  User bo = *accounts_->find_user("bo").value();
  bo.disabled = true;
  ASSERT_TRUE(accounts_->change_user(bo));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(refusal("bo"), Refusal::kDisabled);
  EXPECT_EQ(refusal("bo"), Refusal::kLockedOut);
}

TEST_F(SignIns, ManyUsersTriedFromOneAddressLockItForThoseWhoAreNewThere) {
  add(user("bo"));
  add(user("cy"));
  EXPECT_EQ(refusal("bo", kPassword, "", "2001:db8::1"), std::nullopt);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(refusal("user" + std::to_string(i), "wrong", "", "2001:db8::" + std::to_string(i)),
              Refusal::kWrong);
  }
  EXPECT_EQ(refusal("cy", kPassword, "", "2001:db8::ffff"), Refusal::kLockedOut);
  EXPECT_EQ(refusal("cy", kPassword, "", "2001:db8:0:1::1"), std::nullopt);
  EXPECT_EQ(refusal("bo", kPassword, "", "2001:db8::ffff"), std::nullopt) << "is known there";
  EXPECT_EQ(refusal("cy", kPassword, "", "2001:db8::ffff"), Refusal::kLockedOut);
  clock_.advance(minutes(15));
  EXPECT_EQ(refusal("cy", kPassword, "", "2001:db8::ffff"), std::nullopt);
}

TEST_F(SignIns, GuessesFromManyAddressesDontShutTheUserOut) {
  add(user("bo"));
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.0.9"), std::nullopt);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(refusal("bo", "wrong", "", "10.0.1." + std::to_string(i)), Refusal::kWrong);
  }
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.2.1"), Refusal::kLockedOut) << "a new address";
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.0.9"), std::nullopt) << "the known one";
  clock_.advance(std::chrono::days(91));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(refusal("bo", "wrong", "", "10.0.1." + std::to_string(i)), Refusal::kWrong);
  }
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.0.9"), Refusal::kLockedOut) << "no longer known";
}

TEST_F(SignIns, OnesOwnSuccessFreesNoAddress) {
  add(user("bo"));
  add(user("cy"));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(refusal("victim" + std::to_string(i), "wrong"), Refusal::kWrong);
    EXPECT_EQ(refusal("bo"), std::nullopt);
  }
  EXPECT_EQ(refusal("cy"), Refusal::kLockedOut);
}

TEST_F(SignIns, ASuccessForgivesTheUser) {
  add(user("bo"));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(refusal("bo", "wrong", "", ""), Refusal::kWrong);  // no address: none is counted
    }
    EXPECT_EQ(refusal("bo", kPassword, "", ""), std::nullopt);
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(refusal("bo", "wrong", "", ""), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", kPassword, "", ""), Refusal::kLockedOut);
  // Setting a new password unlocks the user as well.
  ASSERT_TRUE(accounts_->set_password("bo", "copper-kettle-77", true));
  EXPECT_EQ(refusal("bo", "copper-kettle-77", "", ""), std::nullopt);
}

TEST_F(SignIns, APasswordIsCheckedWithoutASession) {
  add(user("bo"));
  EXPECT_EQ(accounts_->check_password("bo", kPassword, ""), std::nullopt);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(accounts_->check_password("bo", "wrong", ""), Refusal::kWrong);
  }
  EXPECT_EQ(accounts_->check_password("bo", kPassword, ""), Refusal::kLockedOut);
  EXPECT_EQ(refusal("bo", kPassword, "", ""), Refusal::kLockedOut);
  EXPECT_EQ(accounts_->check_password("nobody", kPassword, ""), Refusal::kWrong);
}

TEST_F(SignIns, ASecondFactorIsAskedFor) {
  add(user("bo"));
  EXPECT_EQ(accounts_->begin_totp("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(accounts_->confirm_totp("bo", "123456").error().code, ErrorCode::kNotFound);
  const auto begun = accounts_->begin_totp("bo");
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->secret.size(), 32u);
  EXPECT_NE(begun->uri.find("secret=" + begun->secret), std::string::npos);
  EXPECT_TRUE(begun->qr_svg.starts_with("<svg "));
  EXPECT_EQ(refusal("bo"), std::nullopt);  // not yet confirmed
  EXPECT_FALSE(accounts_->find_user("bo")->value().has_totp);

  // Starting again gives another secret.
  const auto again = accounts_->begin_totp("bo");
  ASSERT_TRUE(again);
  EXPECT_NE(again->secret, begun->secret);
  const std::string secret = from_base32(again->secret);
  EXPECT_EQ(accounts_->confirm_totp("bo", code_at(from_base32(begun->secret))), false);
  EXPECT_EQ(accounts_->confirm_totp("bo", ""), false);
  EXPECT_EQ(accounts_->confirm_totp("bo", code_at(secret)), true);
  EXPECT_TRUE(accounts_->find_user("bo")->value().has_totp);
  EXPECT_EQ(accounts_->begin_totp("bo").error().code, ErrorCode::kConflict);
  EXPECT_EQ(accounts_->confirm_totp("bo", code_at(secret)).error().code, ErrorCode::kConflict);

  EXPECT_EQ(refusal("bo"), Refusal::kNeedsCode);
  EXPECT_EQ(refusal("bo", "wrong"), Refusal::kWrong);  // nothing is said of the factor
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret)), Refusal::kWrong);  // was used to confirm
  clock_.advance(seconds(30));
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret)), std::nullopt);
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret)), Refusal::kWrong);  // counts once
  open();
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret)), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret, 1)), std::nullopt);
  clock_.advance(seconds(300));
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret, 2), "10.0.0.2"), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret, -1), "10.0.0.2"), std::nullopt);

  ASSERT_TRUE(accounts_->remove_totp("bo"));
  EXPECT_EQ(refusal("bo", kPassword, "", "10.0.0.2"), std::nullopt);
  EXPECT_TRUE(accounts_->remove_totp("bo"));  // there is none any more
  EXPECT_EQ(accounts_->remove_totp("nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(SignIns, WrongCodesLockTheUser) {
  add(user("bo"));
  const std::string secret = enrol("bo");
  clock_.advance(minutes(5));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(refusal("bo", kPassword, "", ""), Refusal::kNeedsCode);  // no guess
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(refusal("bo", kPassword, code_at(secret, 10 + i), ""), Refusal::kWrong);
    EXPECT_EQ(refusal("bo", kPassword, "", ""), i < 4 ? Refusal::kNeedsCode : Refusal::kLockedOut);
  }
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret), ""), Refusal::kLockedOut);
  clock_.advance(minutes(15));
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret), ""), std::nullopt);
}

TEST_F(SignIns, TheKeyOfAnotherFileOpensNoSecondFactor) {
  add(user("bo"));
  const std::string secret = enrol("bo");
  clock_.advance(minutes(1));
  accounts_.reset();
  const std::string key = options_.path + ".key";
  std::filesystem::rename(key, key + ".kept");
  open();
  const auto done = try_sign_in("bo", kPassword, code_at(secret));
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("totp-off"), std::string::npos);
  accounts_.reset();
  std::filesystem::rename(key + ".kept", key);
  open();
  EXPECT_EQ(refusal("bo", kPassword, code_at(secret)), std::nullopt);
}

class Tokens : public AccountsTest {
 protected:
  Token token(std::string user, std::vector<Permission> only = {},
              std::vector<SummaryFilter> scope = {}) {
    return {.id = "",
            .name = "scripts",
            .user = std::move(user),
            .only = std::move(only),
            .scope = std::move(scope),
            .created_at = {},
            .expires_at = clock_.now() + std::chrono::days(30),
            .last_used = {}};
  }
};

TEST_F(Tokens, SpeakForTheirUserAndNoMore) {
  add(user("bo", Role::kFinance, {{"team", {"nlp", "cv"}}}));
  const auto made =
      accounts_->add_token(token("bo", {Permission::kReadCosts}, {{"team", {"nlp", "hr"}}}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->secret.starts_with("pwt_"));
  EXPECT_EQ(made->secret.size(), 47u);
  EXPECT_TRUE(made->token.id.starts_with("t_"));
  EXPECT_EQ(made->secret.find(made->token.id.substr(2)), std::string::npos);
  open();
  const auto principal = accounts_->bearer(made->secret);
  ASSERT_TRUE(principal && *principal);
  EXPECT_EQ((*principal)->name, "bo");
  EXPECT_EQ((*principal)->by, SignedInBy::kToken);
  EXPECT_EQ((*principal)->session, made->token.id);
  EXPECT_EQ((*principal)->csrf, "");
  EXPECT_TRUE(may(**principal, Permission::kReadCosts));
  EXPECT_FALSE(may(**principal, Permission::kReadBills));
  ASSERT_EQ((*principal)->scope.size(), 2u);  // both apply
  EXPECT_EQ((*principal)->scope[0].values, (std::vector<std::string>{"nlp", "cv"}));
  EXPECT_EQ((*principal)->scope[1].values, (std::vector<std::string>{"nlp", "hr"}));

  const auto kept = accounts_->tokens("bo");
  ASSERT_TRUE(kept && kept->size() == 1);
  EXPECT_EQ(kept->front().name, "scripts");
  EXPECT_EQ(kept->front().only, std::vector{Permission::kReadCosts});
  EXPECT_EQ(kept->front().last_used, clock_.now());
  EXPECT_EQ(kept->front().created_at, clock_.now());
}

TEST_F(Tokens, WithoutLimitsMayWhatTheUserMayNow) {
  add(user("root", Role::kAdmin));
  add(user("bo", Role::kFinance));
  const auto made = accounts_->add_token(token("bo"));
  ASSERT_TRUE(made);
  EXPECT_TRUE(may(*accounts_->bearer(made->secret).value(), Permission::kReadBills));
  ASSERT_TRUE(accounts_->change_user(user("bo", Role::kViewer, {{"team", {"nlp"}}})));
  const auto less = accounts_->bearer(made->secret);
  ASSERT_TRUE(less && *less);
  EXPECT_FALSE(may(**less, Permission::kReadBills));
  EXPECT_TRUE((*less)->is_scoped());
  User off = user("bo");
  off.disabled = true;
  ASSERT_TRUE(accounts_->change_user(off));
  EXPECT_EQ(accounts_->bearer(made->secret), std::nullopt);
}

TEST_F(Tokens, WorkWhileTheirUserMustChangeThePassword) {
  ASSERT_TRUE(accounts_->add_user(user("agent", Role::kOperator), kPassword, true));
  const auto made = accounts_->add_token(token("agent", {Permission::kSendTelemetry}));
  ASSERT_TRUE(made);
  EXPECT_TRUE(may(*accounts_->bearer(made->secret).value(), Permission::kSendTelemetry));
}

TEST_F(Tokens, End) {
  add(user("bo"));
  const auto first = accounts_->add_token(token("bo"));
  const auto second = accounts_->add_token(token("bo"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(accounts_->revoke_token(first->token.id));
  EXPECT_TRUE(accounts_->revoke_token(first->token.id));
  EXPECT_EQ(accounts_->bearer(first->secret), std::nullopt);
  EXPECT_EQ(accounts_->revoke_token("t_0000000000000000").error().code, ErrorCode::kNotFound);
  clock_.advance(std::chrono::days(30) - milliseconds(1));
  EXPECT_TRUE(accounts_->bearer(second->secret)->has_value());
  clock_.advance(milliseconds(1));
  EXPECT_EQ(accounts_->bearer(second->secret), std::nullopt);
  const auto all = accounts_->tokens("");
  ASSERT_EQ(all->size(), 2u);
  EXPECT_LT((*all)[0].id, (*all)[1].id);
  for (const std::string& secret :
       {std::string(), std::string("pwt_"), second->token.id, second->secret.substr(4),
        "PWT_" + second->secret.substr(4), second->secret + "A", "pwt_" + std::string(43, 'A')}) {
    EXPECT_EQ(accounts_->bearer(secret), std::nullopt) << secret;
  }
}

TEST_F(Tokens, AreRefused) {
  add(user("bo"));
  const auto code = [&](const Token& wanted, const Principal* maker = nullptr) {
    const auto made = accounts_->add_token(wanted, maker);
    return made ? std::nullopt : std::optional(made.error().code);
  };
  EXPECT_EQ(code(token("nobody")), ErrorCode::kNotFound);
  EXPECT_EQ(code(token("bo", {Permission::kReadBills})), ErrorCode::kBadValue);
  EXPECT_EQ(code(token("bo", {Permission::kReadCosts, Permission::kReadCosts})),
            ErrorCode::kBadValue);
  EXPECT_EQ(code(token("bo", {}, {{"team", {}}})), ErrorCode::kBadValue);
  Token wanted = token("bo");
  wanted.name = "";
  EXPECT_EQ(code(wanted), ErrorCode::kBadValue);
  wanted = token("bo");
  wanted.expires_at = clock_.now();
  EXPECT_EQ(code(wanted), ErrorCode::kBadValue);
  wanted.expires_at = clock_.now() + std::chrono::days(400) + milliseconds(1);
  EXPECT_EQ(code(wanted), ErrorCode::kBadValue);
  wanted.expires_at = clock_.now() + std::chrono::days(400);
  EXPECT_EQ(code(wanted), std::nullopt);

  Principal maker{.name = "bo"};
  EXPECT_EQ(code(token("bo"), &maker), std::nullopt);
  maker.by = SignedInBy::kToken;
  EXPECT_EQ(code(token("bo"), &maker), ErrorCode::kUnsupported);
  maker = {.name = "bo", .must_change_password = true};
  EXPECT_EQ(code(token("bo"), &maker), ErrorCode::kUnsupported);
  maker = {.name = "lead", .role = Role::kAdmin, .scope = {{"team", {"nlp"}}}};
  EXPECT_EQ(code(token("bo"), &maker), ErrorCode::kUnsupported);
  maker.scope.clear();
  EXPECT_EQ(code(token("bo"), &maker), std::nullopt);
}

TEST_F(Tokens, HaveAnEndInNumber) {
  add(user("bo"));
  for (std::size_t i = 0; i < kTokensPerUserMax; ++i) {
    ASSERT_TRUE(accounts_->add_token(token("bo")));
  }
  EXPECT_EQ(accounts_->add_token(token("bo")).error().code, ErrorCode::kLimit);
  for (std::size_t i = 0; i < kEndedTokensPerUserMax + 20; ++i) {
    const auto kept = accounts_->tokens("bo");
    const auto usable = std::ranges::find(*kept, false, &Token::revoked);
    ASSERT_NE(usable, kept->end());
    ASSERT_TRUE(accounts_->revoke_token(usable->id));
    ASSERT_TRUE(accounts_->add_token(token("bo")));
  }
  EXPECT_LE(accounts_->tokens("bo")->size(), kTokensPerUserMax + kEndedTokensPerUserMax + 1);
}

}  // namespace
}  // namespace pennyweight::access
