// API tokens: for programs, on behalf of a user, with an expiry.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/access/accounts_file.h"
#include "server/access/scope_text.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kPrefix = "pwt_";
constexpr std::size_t kTokenSecretBytes = 32;
constexpr std::size_t kSecretCharacters = 43;  // of that secret in base64url
constexpr std::size_t kTokenIdBytes = 8;
constexpr std::chrono::milliseconds kUsedStep{60'000};  // the precision of `last_used`
constexpr std::string_view kSelectTokens =
    "SELECT id, name, user, permissions, scope, created_at, expires_at, last_used, revoked "
    "FROM tokens ";

std::string written(const std::vector<Permission>& permissions) {
  std::string out;
  for (const Permission permission : permissions) {
    if (!out.empty()) out += ' ';
    out += to_text(permission);
  }
  return out;
}

// Nothing if a word is not a permission.
std::optional<std::vector<Permission>> read_permissions(std::string_view text) {
  std::vector<Permission> permissions;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto permission = parse_permission(text.substr(0, end));
    if (!permission) return std::nullopt;
    permissions.push_back(*permission);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return permissions;
}

Result<Token> token_of(const SqlRow& row) {
  Token token;
  token.id = row.text(0);
  token.name = row.text(1);
  token.user = row.text(2);
  auto only = read_permissions(row.text(3));
  auto scope = parse_scope(row.text(4));
  if (!only || !scope) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("the permissions or the scope of token {} in the accounts file can't be read",
                    token.id));
  }
  token.only = *std::move(only);
  token.scope = *std::move(scope);
  token.created_at = from_unix_ms(row.integer(5));
  token.expires_at = from_unix_ms(row.integer(6));
  if (!row.is_null(7)) token.last_used = from_unix_ms(row.integer(7));
  token.revoked = row.is_true(8);
  return token;
}

Result<void> check_token(const Token& token, const User& user, Instant now) {
  const auto refused = [](std::string why) { return fail(ErrorCode::kBadValue, std::move(why)); };
  if (token.name.empty()) return refused("a token needs a name that says what it is for");
  TRY(check_line(token.name, "the name of a token", kNameBytesMax));
  TRY(check_scope(token.scope));
  for (const Permission permission : token.only) {
    if (!allows(user.role, permission)) {
      return refused(fmt::format("'{}' has the role {}, which does not allow {}", user.name,
                                 to_text(user.role), to_text(permission)));
    }
    if (std::ranges::count(token.only, permission) > 1) {
      return refused(fmt::format("{} is listed twice", to_text(permission)));
    }
  }
  if (token.expires_at <= now) return refused("the token would already be expired");
  if (token.expires_at > now + kTokenLastsMax) {
    return refused(fmt::format("a token is valid for at most {} days", kTokenLastsMax.count()));
  }
  return {};
}

// A token that could create tokens would never expire, and could escape its own limits.
Result<void> check_maker(const Token& token, const Principal& maker) {
  const auto refused = [](std::string why) {
    return fail(ErrorCode::kUnsupported, std::move(why));
  };
  if (maker.by == SignedInBy::kToken) return refused("a token can't create tokens; sign in");
  if (maker.must_change_password) return refused("change the one-time password first");
  if (token.user != maker.name && maker.is_scoped()) {
    return refused("users with a scope can create tokens only for themselves");
  }
  return {};
}

}  // namespace

Result<std::vector<Token>> AccountsFile::select_tokens_locked(
    std::string_view where, std::initializer_list<SqlValue> values) {
  std::vector<Token> tokens;
  std::optional<Error> bad;
  TRY(database_.query(std::string(kSelectTokens) + std::string(where), values,
                      [&](const SqlRow& row) {
                        auto token = token_of(row);
                        if (token) {
                          tokens.push_back(*std::move(token));
                        } else {
                          bad = token.error();
                        }
                      }));
  if (bad) return std::unexpected(*bad);
  return tokens;
}

Result<Accounts::NewToken> AccountsFile::add_token(const Token& token, const Principal* maker,
                                                   const Recorder& record) {
  if (maker != nullptr) {
    TRY(check_maker(token, *maker));
  }
  const auto random = TRY(random_bytes(kTokenSecretBytes));
  const auto random_id = TRY(random_bytes(kTokenIdBytes));
  NewToken made{.token = token, .secret = std::string(kPrefix) + to_base64url(random)};
  const std::string hashed = sha256(made.secret);

  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto user = existing_locked(token.user);
  if (!user) return std::unexpected(user.error());
  const Instant now = clock_.now();
  TRY(check_token(token, *user, now));
  const std::string_view name = user->name;
  const auto count = TRY(database_.integer(
      "SELECT count(*) FROM tokens WHERE user = ? AND revoked = 0 AND expires_at > ?",
      {name, unix_ms(now)}));
  if (count.value_or(0) >= static_cast<std::int64_t>(kTokensPerUserMax)) {
    return fail(ErrorCode::kLimit,
                fmt::format("'{}' has {} tokens; revoke one first", name, kTokensPerUserMax));
  }
  if (auto done =
          database_.change("DELETE FROM tokens WHERE hash IN (SELECT hash FROM tokens "
                           "WHERE user = ? AND (revoked = 1 OR expires_at <= ?) "
                           "ORDER BY created_at DESC LIMIT -1 OFFSET ?)",
                           {name, unix_ms(now), static_cast<std::int64_t>(kEndedTokensPerUserMax)});
      !done) {
    return std::unexpected(done.error());
  }
  made.token.id = "t_" + to_hex(random_id);
  const std::string only = written(token.only);
  const std::string scope = format_scope(token.scope);
  std::ignore = TRY(database_.change(
      "INSERT INTO tokens (hash, id, name, user, permissions, scope, created_at, expires_at, "
      "revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
      {Blob{hashed}, std::string_view(made.token.id), std::string_view(token.name), name,
       std::string_view(only), std::string_view(scope), unix_ms(now), unix_ms(token.expires_at)}));
  auto kept = TRY(select_tokens_locked("WHERE id = ?", {std::string_view(made.token.id)}));
  made.token = std::move(kept.front());
  Change change;
  change.token_after = made.token;
  TRY(commit_recorded_locked(transaction, record, change));
  return made;
}

Result<std::vector<Token>> AccountsFile::tokens(std::string_view user) {
  const std::lock_guard lock(mutex_);
  if (user.empty()) return select_tokens_locked("ORDER BY id", {});
  return select_tokens_locked("WHERE user = ? ORDER BY id", {user});
}

Result<void> AccountsFile::revoke_token(std::string_view id, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  Change change;
  const auto before = TRY(select_tokens_locked("WHERE id = ?", {id}));
  if (before.empty()) return fail(ErrorCode::kNotFound, fmt::format("there is no token '{}'", id));
  std::ignore = TRY(database_.change("UPDATE tokens SET revoked = 1 WHERE id = ?", {id}));
  change.token_before = before.front();
  change.token_after = before.front();
  change.token_after->revoked = true;
  return commit_recorded_locked(transaction, record, change);
}

Result<std::uint64_t> AccountsFile::revoke_tokens_locked(std::string_view user) {
  return database_.change("UPDATE tokens SET revoked = 1 WHERE user = ? AND revoked = 0", {user});
}

// Only the provider knows whether people without a password here are still with us: they have to
// show up there again and again.
Result<bool> AccountsFile::is_vouched_for_locked(const User& user, Instant now) {
  if (user.local || user.subject.empty()) return true;
  const auto at = TRY(database_.integer("SELECT vouched_at FROM users WHERE name = ?",
                                        {std::string_view(user.name)}));
  return at && now < from_unix_ms(*at) + options_.vouched_for;
}

Result<std::optional<Principal>> AccountsFile::bearer(std::string_view secret) {
  if (!secret.starts_with(kPrefix) || secret.size() != kPrefix.size() + kSecretCharacters) {
    return std::nullopt;
  }
  const std::string hashed = sha256(secret);
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  const auto found = TRY(select_tokens_locked("WHERE hash = ?", {Blob{hashed}}));
  if (found.empty()) return std::nullopt;
  const Token& token = found.front();
  if (token.revoked || token.expires_at <= now) return std::nullopt;
  const auto user = find_locked(token.user);
  if (!user) return std::unexpected(user.error());
  if (!*user || (*user)->disabled) return std::nullopt;
  const auto vouched = TRY(is_vouched_for_locked(**user, now));
  if (!vouched) return std::nullopt;
  if (!token.last_used || now - *token.last_used >= kUsedStep) {
    // If this can't be written, the last use is merely less precise.
    static_cast<void>(database_.change("UPDATE tokens SET last_used = ? WHERE hash = ?",
                                       {unix_ms(now), Blob{hashed}}));
  }
  Principal principal = principal_of(**user, SignedInBy::kToken, token.id);
  principal.must_change_password = false;  // a token does not use the password
  if (!token.only.empty()) principal.only = token.only;
  principal.scope.insert(principal.scope.end(), token.scope.begin(), token.scope.end());
  return principal;
}

}  // namespace pennyweight::access
