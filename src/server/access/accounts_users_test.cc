#include <gmock/gmock.h>

#include "server/access/accounts_file.h"
#include "server/access/accounts_for_tests.h"
#include "server/access/scope_text.h"

namespace pennyweight::access {
namespace {

using testing::ElementsAre;

using Users = AccountsTest;

TEST_F(Users, TheFirstAdminIsMadeOnce) {
  const auto password = accounts_->create_first_admin();
  ASSERT_TRUE(password && *password);
  const SignIn first = sign_in("admin", **password);
  EXPECT_TRUE(first.principal.must_change_password);
  EXPECT_EQ(first.principal.role, Role::kAdmin);
  EXPECT_FALSE(may(first.principal, Permission::kReadCosts));
  EXPECT_EQ(accounts_->create_first_admin(), std::nullopt);
  open();
  EXPECT_EQ(accounts_->create_first_admin(), std::nullopt);

  // The change takes effect on the session that made it.
  EXPECT_EQ(accounts_->set_password("admin", **password, false).error().code, ErrorCode::kBadValue);
  ASSERT_TRUE(accounts_->set_password("admin", kPassword, false, first.principal.session));
  const auto after = accounts_->session(first.secret);
  ASSERT_TRUE(after && *after);
  EXPECT_FALSE((*after)->must_change_password);
  EXPECT_TRUE(may(**after, Permission::kManageUsers));
  EXPECT_EQ(refusal("admin", **password), Refusal::kWrong);
}

TEST_F(Users, AreKept) {
  User ana =
      user("ana@lab.org", Role::kTeamLead, {{"team", {"nlp", "r,d; x"}}, {"cluster", {"a"}}});
  ana.display_name = "Ana Lima";
  ana.email = "ana@lab.org";
  const auto added = accounts_->add_user(ana, kPassword, true);
  ASSERT_TRUE(added) << added.error().message;
  add(user("bo"));
  clock_.advance(std::chrono::seconds(5));
  sign_in("bo");
  open();
  const auto users = accounts_->users();
  ASSERT_TRUE(users && users->size() == 2);
  const User& kept = users->front();
  EXPECT_EQ(kept.name, "ana@lab.org");
  EXPECT_EQ(kept.display_name, "Ana Lima");
  EXPECT_EQ(kept.email, "ana@lab.org");
  EXPECT_EQ(kept.role, Role::kTeamLead);
  EXPECT_EQ(format_scope(kept.scope), format_scope(ana.scope));
  EXPECT_TRUE(kept.local);
  EXPECT_TRUE(kept.must_change_password);
  EXPECT_FALSE(kept.has_totp || kept.disabled || kept.last_sign_in);
  EXPECT_EQ(kept.created_at, from_unix_seconds(1'774'000'000));
  EXPECT_EQ((*users)[1].last_sign_in, from_unix_seconds(1'774'000'005));
  EXPECT_TRUE(accounts_->find_user("bo")->has_value());
  EXPECT_FALSE(accounts_->find_user("BO")->has_value());
  EXPECT_FALSE(accounts_->find_user("")->has_value());
}

TEST_F(Users, AreRefused) {
  for (const char* name : {"", "Ana", "ana lima", "ana/..", "añá", "a\nb"}) {
    EXPECT_EQ(accounts_->add_user(user(name), kPassword, false).error().code, ErrorCode::kBadValue)
        << name;
  }
  EXPECT_FALSE(accounts_->add_user(user(std::string(129, 'a')), kPassword, false));
  EXPECT_TRUE(accounts_->add_user(user(std::string(128, 'a')), kPassword, false));
  EXPECT_EQ(accounts_->add_user(user("bo"), "short", false).error().code, ErrorCode::kBadValue);
  add(user("bo"));
  EXPECT_EQ(accounts_->add_user(user("bo"), kPassword, false).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(accounts_->add_user(user("cy", Role::kViewer, {{"team", {}}}), kPassword, false));
  EXPECT_FALSE(
      accounts_->add_user(user("cy", Role::kViewer, {{"team", {"a"}, true}}), kPassword, false));
  User odd = user("cy");
  odd.display_name = "Cy\x1b[2J";
  EXPECT_FALSE(accounts_->add_user(odd, kPassword, false));
  EXPECT_EQ(accounts_->change_user(user("nobody")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(accounts_->remove_user("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(accounts_->set_password("nobody", kPassword, false).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(accounts_->users()->size(), 2u);
}

TEST_F(Users, TheLastAdminStays) {
  add(user("root", Role::kAdmin));
  const auto refused = [&](const User& changed) {
    const auto done = accounts_->change_user(changed);
    return !done && done.error().code == ErrorCode::kConflict;
  };
  User disabled = user("root", Role::kAdmin);
  disabled.disabled = true;
  const auto all_refused = [&] {
    return refused(user("root", Role::kFinance)) && refused(disabled) &&
           refused(user("root", Role::kAdmin, {{"team", {"nlp"}}})) &&
           accounts_->remove_user("root").error().code == ErrorCode::kConflict;
  };
  EXPECT_TRUE(all_refused());
  // None of these could manage users.
  add(user("scoped", Role::kAdmin, {{"team", {"nlp"}}}));
  User off = user("off", Role::kAdmin);
  off.disabled = true;
  add(off);
  EXPECT_TRUE(all_refused());
  EXPECT_EQ(accounts_->find_user("root")->value().role, Role::kAdmin);

  add(user("second", Role::kAdmin));
  EXPECT_TRUE(accounts_->change_user(disabled));
  EXPECT_EQ(accounts_->remove_user("second").error().code, ErrorCode::kConflict);
  EXPECT_TRUE(accounts_->remove_user("root"));
}

TEST_F(Users, SessionsEndWhenPermissionsChange) {
  add(user("root", Role::kAdmin));
  add(user("bo"));
  add(user("cy"));
  const SignIn other = sign_in("cy");
  User changed = user("bo");
  const auto ends = [&] {
    const SignIn before = sign_in("bo");
    EXPECT_TRUE(is_signed_in(before.secret));
    EXPECT_TRUE(accounts_->change_user(changed));
    return !is_signed_in(before.secret);
  };
  changed.display_name = "Bo";
  changed.email = "bo@lab.org";
  EXPECT_FALSE(ends());
  changed.role = Role::kFinance;
  EXPECT_TRUE(ends());
  changed.scope = {{"team", {"nlp"}}};
  EXPECT_TRUE(ends());
  EXPECT_FALSE(ends());
  changed.scope = {{"team", {"nlp", "cv"}}};
  EXPECT_TRUE(ends());
  changed.disabled = true;
  EXPECT_TRUE(ends());
  EXPECT_EQ(refusal("bo"), Refusal::kDisabled);
  EXPECT_EQ(refusal("bo", "a wrong password"), Refusal::kWrong);
  EXPECT_TRUE(is_signed_in(other.secret));
}

TEST_F(Users, ANewPasswordEndsOtherSessions) {
  add(user("bo"));
  const SignIn first = sign_in("bo");
  const SignIn second = sign_in("bo");
  ASSERT_TRUE(accounts_->set_password("bo", "copper-kettle-77", false, second.principal.session));
  EXPECT_FALSE(is_signed_in(first.secret));
  EXPECT_TRUE(is_signed_in(second.secret));
  EXPECT_EQ(refusal("bo"), Refusal::kWrong);
  EXPECT_EQ(refusal("bo", "copper-kettle-77"), std::nullopt);
  ASSERT_TRUE(accounts_->set_password("bo", kPassword, true));
  EXPECT_FALSE(is_signed_in(second.secret));
  EXPECT_TRUE(sign_in("bo").principal.must_change_password);
}

TEST_F(Users, DeletingAUserDeletesWhatTheyOwn) {
  add(user("bo"));
  const SignIn session = sign_in("bo");
  const auto token = accounts_->add_token({.id = "",
                                           .name = "scripts",
                                           .user = "bo",
                                           .only = {},
                                           .scope = {},
                                           .created_at = {},
                                           .expires_at = clock_.now() + std::chrono::days(10),
                                           .last_used = {}});
  ASSERT_TRUE(token);
  ASSERT_TRUE(
      accounts_->save_view({.user = "bo", .name = "mine", .query = "/explore", .created_at = {}}));
  ASSERT_TRUE(accounts_->remove_user("bo"));
  EXPECT_FALSE(is_signed_in(session.secret));
  EXPECT_EQ(accounts_->bearer(token->secret), std::nullopt);
  // A new user of that name finds none of it either.
  add(user("bo"));
  EXPECT_FALSE(is_signed_in(session.secret));
  EXPECT_EQ(accounts_->bearer(token->secret), std::nullopt);
  EXPECT_TRUE(accounts_->tokens("")->empty());
  EXPECT_TRUE(accounts_->views("bo")->empty());
}

TEST_F(Users, OfAProviderComeByTheirSubject) {
  User ana = user("ana");
  ana.subject = "https://id.lab.org 4711";
  const auto added = accounts_->add_user(ana, "", false);
  ASSERT_TRUE(added);
  EXPECT_FALSE(added->local);
  EXPECT_FALSE(added->must_change_password);
  EXPECT_EQ(accounts_->find_subject("https://id.lab.org 4711")->value().name, "ana");
  EXPECT_FALSE(accounts_->find_subject("https://id.lab.org 4712")->has_value());
  EXPECT_FALSE(accounts_->find_subject("")->has_value());
  User other = user("other");
  other.subject = ana.subject;
  EXPECT_EQ(accounts_->add_user(other, "", false).error().code, ErrorCode::kConflict);
  add(user("local"));
  add(user("local2"));  // several without a subject
  EXPECT_FALSE(accounts_->find_subject("")->has_value());
  other.name = "local";
  EXPECT_EQ(accounts_->change_user(other).error().code, ErrorCode::kConflict);

  EXPECT_EQ(accounts_->set_password("ana", kPassword, false).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(accounts_->begin_totp("ana").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refusal("ana", ""), Refusal::kWrong);

  const auto identity = accounts_->sign_in_external("ana");
  ASSERT_TRUE(identity && std::holds_alternative<SignIn>(*identity));
  const auto session = accounts_->session(std::get<SignIn>(*identity).secret);
  ASSERT_TRUE(session && *session);
  EXPECT_EQ((*session)->by, SignedInBy::kOpenId);
  EXPECT_EQ((*session)->name, "ana");
  const auto refused = [&](const char* name) {
    const auto done = accounts_->sign_in_external(name);
    return done ? std::get<Refusal>(*done) : Refusal::kLockedOut;
  };
  EXPECT_EQ(refused("nobody"), Refusal::kWrong);
  EXPECT_EQ(refused("local"), Refusal::kWrong);
  ana.disabled = true;
  ASSERT_TRUE(accounts_->change_user(ana));
  EXPECT_EQ(refused("ana"), Refusal::kDisabled);
}

TEST_F(Users, ChangesOfAnotherProcessAreSeenAtOnce) {
  add(user("root", Role::kAdmin));
  add(user("bo", Role::kFinance));
  const SignIn session = sign_in("bo");
  const auto other = another();
  EXPECT_TRUE(other->session(session.secret)->has_value());
  ASSERT_TRUE(other->change_user(user("bo", Role::kViewer)));
  EXPECT_FALSE(is_signed_in(session.secret));
  EXPECT_EQ(sign_in("bo").principal.role, Role::kViewer);
  ASSERT_TRUE(other->set_password("bo", "copper-kettle-77", false));
  EXPECT_EQ(refusal("bo"), Refusal::kWrong);
  ASSERT_TRUE(other->remove_user("bo"));
  EXPECT_EQ(refusal("bo", "copper-kettle-77"), Refusal::kWrong);
}

TEST_F(Users, SharedViewsNeedAScopeThatCoversTheOwners) {
  add(user("all"));
  add(user("nlp", Role::kViewer, {{"team", {"nlp"}}}));
  add(user("two", Role::kViewer, {{"team", {"nlp", "cv"}}}));
  add(user("cv", Role::kViewer, {{"team", {"cv"}}}));
  const auto save = [&](const char* who, const char* name, bool shared) {
    const auto saved = accounts_->save_view({.user = who,
                                             .name = name,
                                             .query = "/explore?by=team",
                                             .shared = shared,
                                             .created_at = {}});
    EXPECT_TRUE(saved) << saved.error().message;
    return saved ? saved->id : 0;
  };
  save("all", "of all", true);
  save("nlp", "of nlp", true);
  save("two", "of two", true);
  const std::uint64_t secret = save("nlp", "a secret", false);
  const auto names = [&](const char* who) {
    std::vector<std::string> found;
    const auto views = accounts_->views(who);
    for (const SavedView& view : *views) found.push_back(view.name);
    return found;
  };
  EXPECT_THAT(names("all"), ElementsAre("of all", "of nlp", "of two"));
  EXPECT_THAT(names("nlp"), ElementsAre("a secret", "of nlp"));
  EXPECT_THAT(names("two"), ElementsAre("of nlp", "of two"));
  EXPECT_THAT(names("cv"), ElementsAre());
  EXPECT_EQ(accounts_->views("nobody").error().code, ErrorCode::kNotFound);

  SavedView changed{.id = secret,
                    .user = "nlp",
                    .name = "no secret",
                    .query = "/live",
                    .shared = true,
                    .created_at = {}};
  ASSERT_TRUE(accounts_->save_view(changed));
  EXPECT_THAT(names("all"), ElementsAre("no secret", "of all", "of nlp", "of two"));
  changed.user = "all";
  EXPECT_EQ(accounts_->save_view(changed).error().code,
            ErrorCode::kNotFound);  // not the user's own
  EXPECT_EQ(accounts_->remove_view("all", secret).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(accounts_->remove_view("nlp", secret));
  EXPECT_EQ(accounts_->remove_view("nlp", secret).error().code, ErrorCode::kNotFound);
  EXPECT_GT(save("nlp", "a later one", false), secret);
}

TEST_F(Users, ClientsSeeTheirOwnViewsAndNobodySeesTheirs) {
  add(user("all", Role::kAdmin));
  add(user("lead", Role::kTeamLead, {{"team", {"nlp"}}}));
  add(user("unscoped", Role::kClient));
  add(user("nlp", Role::kClient, {{"team", {"nlp"}}}));
  for (const char* who : {"all", "lead", "unscoped", "nlp"}) {
    ASSERT_TRUE(accounts_->save_view({.user = who,
                                      .name = std::string("of ") + who,
                                      .query = "/explore?filter=client%3Drival&cost=list",
                                      .shared = true,
                                      .created_at = {}}));
  }
  const auto names = [&](const char* who) {
    std::vector<std::string> found;
    const auto views = accounts_->views(who);
    for (const SavedView& view : *views) found.push_back(view.name);
    return found;
  };
  EXPECT_THAT(names("unscoped"), ElementsAre("of unscoped"));
  EXPECT_THAT(names("nlp"), ElementsAre("of nlp"));
  EXPECT_THAT(names("all"), ElementsAre("of all", "of lead"));
  EXPECT_THAT(names("lead"), ElementsAre("of lead"));
}

TEST_F(Users, WhatIsNotedOfASentViewIsOfItsScheduleAlone) {
  add(user("ana"));
  const auto saved =
      accounts_->save_view({.user = "ana", .name = "x", .query = "/explore", .created_at = {}});
  ASSERT_TRUE(saved);
  const auto set = [&](const char* receiver) {
    return *accounts_->schedule_view(
        "ana", saved->id,
        ViewSchedule{
            .every = ViewPeriod::kDay, .receiver = receiver, .sent_until = {}, .problem = {}});
  };
  const SavedView before = set("books");
  const SavedView now = set("chat");
  ASSERT_TRUE(accounts_->note_sent(before, "2026-03-01", ""));
  EXPECT_EQ(accounts_->scheduled_views()->front().schedule->sent_until, "");
  ASSERT_TRUE(accounts_->note_sent(now, "2026-03-01", ""));
  EXPECT_EQ(accounts_->scheduled_views()->front().schedule->sent_until, "2026-03-01");
  ASSERT_TRUE(accounts_->schedule_view("ana", saved->id, std::nullopt));
  ASSERT_TRUE(accounts_->note_sent(now, "2026-03-02", ""));
  EXPECT_TRUE(accounts_->scheduled_views()->empty());
}

TEST_F(Users, ViewsAreRefused) {
  add(user("bo"));
  const auto code = [&](const char* name, const std::string& query) {
    const auto saved =
        accounts_->save_view({.user = "bo", .name = name, .query = query, .created_at = {}});
    return saved ? std::nullopt : std::optional(saved.error().code);
  };
  EXPECT_EQ(code("good", "/explore?by=team&filter=team%3Dnlp"), std::nullopt);
  EXPECT_EQ(code("good", "/live"), ErrorCode::kConflict);
  for (const char* query : {"", "explore", "//evil.example", "/\\evil.example",
                            "https://evil.example", "javascript:alert(1)", "/a\nb"}) {
    EXPECT_EQ(code("bad", query), ErrorCode::kBadValue) << query;
  }
  EXPECT_EQ(code("", "/live"), ErrorCode::kBadValue);
  EXPECT_EQ(code("long", "/" + std::string(kViewQueryBytesMax, 'x')), ErrorCode::kBadValue);
  for (std::size_t i = 1; i < kViewsPerUserMax; ++i) {
    ASSERT_EQ(code(std::to_string(i).c_str(), "/live"), std::nullopt);
  }
  EXPECT_EQ(code("one more", "/live"), ErrorCode::kLimit);
}

TEST_F(Users, SmallTextsAreKept) {
  EXPECT_EQ(accounts_->get("head"), std::nullopt);
  ASSERT_TRUE(accounts_->put("head", "1 abc"));
  ASSERT_TRUE(accounts_->put("head", "2 def"));
  ASSERT_TRUE(accounts_->put("empty", ""));
  open();
  EXPECT_EQ(accounts_->get("head"), "2 def");
  EXPECT_EQ(accounts_->get("empty"), "");
  EXPECT_FALSE(accounts_->put("head", std::string(kTextBytesMax + 1, 'x')));
  EXPECT_FALSE(accounts_->put("head", "\xff"));
  EXPECT_EQ(accounts_->get("head"), "2 def");
}

}  // namespace
}  // namespace pennyweight::access
