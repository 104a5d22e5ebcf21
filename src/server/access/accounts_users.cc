// Users, with their roles and scopes.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/ascii.h"
#include "core/try.h"
#include "server/access/accounts_file.h"
#include "server/access/lock_out.h"
#include "server/access/password.h"
#include "server/access/scope_text.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kEmailBytesMax = 254;  // RFC 5321
constexpr std::size_t kSubjectBytesMax = 1024;
constexpr std::string_view kSelectUsers =
    "SELECT u.name, u.display_name, u.email, u.role, u.scope, u.password IS NOT NULL, "
    "coalesce(u.subject, ''), coalesce(t.confirmed, 0), u.disabled, u.must_change_password, "
    "u.created_at, u.last_sign_in FROM users u LEFT JOIN totp t ON t.user = u.name ";

Result<User> user_of(const SqlRow& row) {
  User user;
  user.name = row.text(0);
  user.display_name = row.text(1);
  user.email = row.text(2);
  const auto role = parse_role(row.text(3));
  auto scope = parse_scope(row.text(4));
  if (!role || !scope) {
    // The file was altered by hand or damaged: nobody signs in with a guessed role or scope.
    return fail(ErrorCode::kBadFile,
                fmt::format("the role or the scope of user {} in the accounts file can't be read",
                            user.name));
  }
  user.role = *role;
  user.scope = *std::move(scope);
  user.local = row.is_true(5);
  user.subject = row.text(6);
  user.has_totp = row.is_true(7);
  user.disabled = row.is_true(8);
  user.must_change_password = row.is_true(9);
  user.created_at = from_unix_ms(row.integer(10));
  if (!row.is_null(11)) user.last_sign_in = from_unix_ms(row.integer(11));
  return user;
}

Result<void> check_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '.' || c == '_' || c == '@' || c == '-';
  };
  if (name.empty() || name.size() > kNameBytesMax || !std::ranges::all_of(name, is_allowed)) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("a user name has 1 to {} characters of a-z, 0-9 and . _ @ -", kNameBytesMax));
  }
  return {};
}

Result<void> check_user(const User& user) {
  TRY(check_name(user.name));
  TRY(check_line(user.display_name, "the display name", kNameBytesMax));
  TRY(check_line(user.email, "the email address", kEmailBytesMax));
  TRY(check_line(user.subject, "the subject", kSubjectBytesMax));
  return check_scope(user.scope);
}

std::unexpected<Error> no_user(std::string_view name) {
  return fail(ErrorCode::kNotFound, fmt::format("there is no user '{}'", name));
}

// NULL if there is none, since subjects are unique.
SqlValue subject_value(const User& user) {
  if (user.subject.empty()) return nullptr;
  return std::string_view(user.subject);
}

// Whether the user can manage all users.
bool is_full_admin(const User& user) {
  return user.role == Role::kAdmin && !user.disabled && user.scope.empty();
}

}  // namespace

Principal principal_of(const User& user, SignedInBy by, std::string_view session) {
  return {.name = user.name,
          .display_name = user.display_name,
          .role = user.role,
          .scope = user.scope,
          .only = std::nullopt,
          .by = by,
          .session = std::string(session),
          .csrf = "",
          .must_change_password = user.must_change_password};
}

Result<std::vector<User>> AccountsFile::select_users_locked(
    std::string_view where, std::initializer_list<SqlValue> values) {
  std::vector<User> users;
  std::optional<Error> bad;
  TRY(database_.query(std::string(kSelectUsers) + std::string(where), values,
                      [&](const SqlRow& row) {
                        auto user = user_of(row);
                        if (user) {
                          users.push_back(*std::move(user));
                        } else {
                          bad = user.error();
                        }
                      }));
  if (bad) return std::unexpected(*bad);
  return users;
}

Result<std::optional<User>> AccountsFile::find_locked(std::string_view name) {
  auto found = TRY(select_users_locked("WHERE u.name = ?", {name}));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<User> AccountsFile::existing_locked(std::string_view name) {
  auto found = find_locked(name);
  if (!found) return std::unexpected(found.error());
  if (!*found) return no_user(name);
  return **std::move(found);
}

Result<std::vector<User>> AccountsFile::users() {
  const std::lock_guard lock(mutex_);
  return select_users_locked("ORDER BY u.name", {});
}

Result<std::optional<User>> AccountsFile::find_user(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return find_locked(name);
}

Result<std::optional<User>> AccountsFile::find_subject(std::string_view subject) {
  if (subject.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  auto found = TRY(select_users_locked("WHERE u.subject = ?", {subject}));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<User> AccountsFile::insert_user_locked(const User& user, std::string_view hash,
                                              bool one_time) {
  const auto there = find_locked(user.name);
  if (!there) return std::unexpected(there.error());
  if (*there) {
    return fail(ErrorCode::kConflict, fmt::format("user '{}' exists already", user.name));
  }
  const auto count = TRY(database_.integer("SELECT count(*) FROM users", {}));
  if (count.value_or(0) >= static_cast<std::int64_t>(kUsersMax)) {
    return fail(ErrorCode::kLimit,
                fmt::format("there are {} users, which is the limit", kUsersMax));
  }
  const std::string scope = format_scope(user.scope);
  const SqlValue password = hash.empty() ? SqlValue(nullptr) : SqlValue(hash);
  const auto done = database_.change(
      "INSERT INTO users (name, display_name, email, role, scope, password, subject, disabled, "
      "must_change_password, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {std::string_view(user.name), std::string_view(user.display_name),
       std::string_view(user.email), to_text(user.role), std::string_view(scope), password,
       subject_value(user), std::int64_t{user.disabled}, std::int64_t{one_time && !hash.empty()},
       unix_ms(clock_.now())});
  if (!done && done.error().code == ErrorCode::kConflict) {
    return fail(ErrorCode::kConflict, "another user has this OpenID Connect subject");
  }
  if (!done) return std::unexpected(done.error());
  return existing_locked(user.name);
}

Result<std::optional<std::string>> AccountsFile::create_first_admin(const Recorder& record) {
  const auto is_empty = [&]() -> Result<bool> {
    const auto count = TRY(database_.integer("SELECT count(*) FROM users", {}));
    return count.value_or(0) == 0;
  };
  {
    const std::lock_guard lock(mutex_);
    const auto empty = is_empty();
    if (!empty) return std::unexpected(empty.error());
    if (!*empty) return std::nullopt;
  }
  auto password = TRY(one_time_password());
  const auto hashed = TRY(hash(password));

  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  // Another process may have been first.
  const auto empty = is_empty();
  if (!empty) return std::unexpected(empty.error());
  if (!*empty) return std::nullopt;
  User admin;
  admin.name = "admin";
  admin.display_name = "Administrator";
  admin.role = Role::kAdmin;
  Change change;
  change.user_after = TRY(insert_user_locked(admin, hashed, true));
  TRY(commit_recorded_locked(transaction, record, change));
  return password;
}

Result<User> AccountsFile::add_user(const User& user, std::string_view password, bool one_time,
                                    const Recorder& record) {
  TRY(check_user(user));
  std::string hashed;
  if (!password.empty()) {
    TRY(check_new_password(password, user.name));
    auto made = TRY(hash(password));
    hashed = std::move(made);
  }
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  auto added = insert_user_locked(user, hashed, one_time);
  if (!added) return added;
  Change change;
  change.user_after = *added;
  TRY(commit_recorded_locked(transaction, record, change));
  return added;
}

Result<void> AccountsFile::check_admin_left_locked(const User& before) {
  if (!is_full_admin(before)) return {};
  const auto users = TRY(select_users_locked("WHERE u.role = 'admin' AND u.disabled = 0", {}));
  if (std::ranges::any_of(users, is_full_admin)) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("'{}' is the last admin who sees everything; create another one first",
                          before.name));
}

Result<void> AccountsFile::end_sessions_locked(std::string_view user,
                                               std::string_view keep_session) {
  std::ignore = TRY(
      database_.change("DELETE FROM sessions WHERE user = ? AND id <> ?", {user, keep_session}));
  return {};
}

Result<User> AccountsFile::change_user(const User& user, const Recorder& record) {
  TRY(check_user(user));
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto before = existing_locked(user.name);
  if (!before) return before;
  const std::string scope = format_scope(user.scope);
  const auto changed = database_.change(
      "UPDATE users SET display_name = ?, email = ?, role = ?, scope = ?, disabled = ?, "
      "subject = ? WHERE name = ?",
      {std::string_view(user.display_name), std::string_view(user.email), to_text(user.role),
       std::string_view(scope), std::int64_t{user.disabled}, subject_value(user),
       std::string_view(user.name)});
  if (!changed && changed.error().code == ErrorCode::kConflict) {
    return fail(ErrorCode::kConflict, "another user has this OpenID Connect subject");
  }
  if (!changed) return std::unexpected(changed.error());
  TRY(check_admin_left_locked(*before));
  if (before->role != user.role || format_scope(before->scope) != scope ||
      before->disabled != user.disabled) {
    TRY(end_sessions_locked(user.name, ""));
  }
  if (before->has_totp && !user.has_totp) {
    TRY(remove_totp_locked(user.name));
  }
  auto after = existing_locked(user.name);
  if (!after) return after;
  Change change;
  change.user_before = *before;
  change.user_after = *after;
  TRY(commit_recorded_locked(transaction, record, change));
  return after;
}

Result<void> AccountsFile::remove_user(std::string_view name, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto before = TRY(existing_locked(name));
  std::ignore = TRY(database_.change("DELETE FROM users WHERE name = ?", {name}));
  TRY(check_admin_left_locked(before));
  Change change;
  change.user_before = before;
  return commit_recorded_locked(transaction, record, change);
}

Result<void> AccountsFile::set_password(std::string_view name, std::string_view password,
                                        bool one_time, std::string_view keep_session,
                                        const Recorder& record) {
  TRY(check_new_password(password, name));
  std::string old;
  bool must_change = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = credentials_locked(name);
    if (!found) return std::unexpected(found.error());
    if (!*found) return no_user(name);
    old = (*found)->hash;
    must_change = (*found)->user.must_change_password;
  }
  if (old.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("'{}' signs in by OpenID Connect and has no password here", name));
  }
  if (must_change) {
    const auto same = TRY(verify(password, old));
    if (same)
      return fail(ErrorCode::kBadValue,
                  "the new password must differ from the one that must be changed");
  }
  const auto hashed = TRY(hash(password));

  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto changed =
      TRY(database_.change("UPDATE users SET password = ?, must_change_password = ? "
                           "WHERE name = ? AND password IS NOT NULL",
                           {std::string_view(hashed), std::int64_t{one_time}, name}));
  if (changed == 0) return no_user(name);
  TRY(end_sessions_locked(name, keep_session));
  TRY(clear_failures(database_, to_attempt(name, "").user_key));
  Change change;
  change.user_after = TRY(existing_locked(name));
  if (keep_session.empty()) {
    change.tokens_revoked = TRY(revoke_tokens_locked(name));
  }
  return commit_recorded_locked(transaction, record, change);
}

}  // namespace pennyweight::access
