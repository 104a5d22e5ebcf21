// Signing in: passwords, codes, lock-outs, sessions.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/access/accounts_file.h"
#include "server/access/lock_out.h"
#include "server/access/password.h"
#include "server/access/totp.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 8;
// The precision of a session's last use: storing it at every request would cost a disk write each.
constexpr std::chrono::milliseconds kSeenStep{60'000};

std::string_view word_of(SignedInBy by) {
  return by == SignedInBy::kOpenId ? "openid" : "password";
}
SignedInBy signed_in_by(std::string_view word) {
  return word == "openid" ? SignedInBy::kOpenId : SignedInBy::kPassword;
}

// Derived from the session's secret, so that it need not be stored; the secret can't be derived
// from it.
std::string csrf_of(std::string_view secret) {
  return to_base64url(hmac_sha256(secret, "pennyweight csrf"));
}

}  // namespace

Result<std::optional<AccountsFile::Credentials>> AccountsFile::credentials_locked(
    std::string_view name) {
  const auto user = find_locked(name);
  if (!user) return std::unexpected(user.error());
  if (!*user) return std::nullopt;
  Credentials credentials{.user = **user, .hash = ""};
  TRY(database_.query("SELECT coalesce(password, '') FROM users WHERE name = ?", {name},
                      [&](const SqlRow& row) { credentials.hash = row.text(0); }));
  return credentials;
}

AccountsFile::Attempt AccountsFile::to_attempt(std::string_view name, std::string_view peer) const {
  Attempt attempt{.user_key = hmac_sha256(attempts_key_, "user " + ascii::lower_case(name)),
                  .peer_key = ""};
  if (!peer.empty()) attempt.peer_key = hmac_sha256(attempts_key_, "peer " + address_group(peer));
  return attempt;
}

Result<bool> AccountsFile::is_locked_out_locked(const Attempt& attempt, Instant now) {
  const auto user = is_locked_out(database_, attempt.user_key, now);
  if (!user || *user || attempt.peer_key.empty()) return user;
  return is_locked_out(database_, attempt.peer_key, now);
}

Result<void> AccountsFile::count_failure_locked(const Attempt& attempt, Instant now) {
  const LockOutRule rule{.failures_max = options_.failures_max, .lasts = options_.lock_out};
  TRY(count_failure(database_, attempt.user_key, now, rule));
  if (attempt.peer_key.empty()) return {};
  return count_failure(database_, attempt.peer_key, now, rule);
}

Result<std::optional<Refusal>> AccountsFile::authenticate(std::string_view name,
                                                          std::string_view password,
                                                          std::string_view peer,
                                                          const OnAuthenticated& then) {
  const std::string typed = ascii::lower_case(name);
  const Attempt attempt = to_attempt(name, peer);
  std::string hashed;
  {
    const std::lock_guard lock(mutex_);
    const auto locked = TRY(is_locked_out_locked(attempt, clock_.now()));
    if (locked) return Refusal::kLockedOut;
    const auto found = TRY(credentials_locked(typed));
    if (found) hashed = found->hash;
  }
  // The same work whether the user exists or not.
  const bool has_password = !hashed.empty() && password.size() <= kPasswordBytesMax;
  const auto fitting =
      verify(password.substr(0, kPasswordBytesMax), hashed.empty() ? dummy_hash_ : hashed);
  if (!fitting) return std::unexpected(fitting.error());

  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const Instant now = clock_.now();
  // Checked again: guesses made in parallel must reveal no more than guesses made one by one.
  const auto locked = TRY(is_locked_out_locked(attempt, now));
  if (locked) return Refusal::kLockedOut;
  const auto found = credentials_locked(typed);
  if (!found) return std::unexpected(found.error());
  std::optional<Refusal> refusal;
  if (!has_password || !*fitting || !*found || (*found)->hash != hashed) {
    refusal = Refusal::kWrong;
  } else if ((*found)->user.disabled) {
    return Refusal::kDisabled;
  } else {
    const auto refused = then((*found)->user, now);
    if (!refused) return refused;
    refusal = *refused;
  }
  if (refusal == Refusal::kWrong) {
    TRY(count_failure_locked(attempt, now));
  } else if (refusal) {
    return refusal;
  } else if (auto forgiven = clear_failures(database_, attempt.user_key); !forgiven) {
    // The address stays counted: otherwise the owner of one account could go on guessing others'.
    return std::unexpected(forgiven.error());
  }
  TRY(transaction.commit());
  return refusal;
}

Result<std::optional<Refusal>> AccountsFile::check_password(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view peer) {
  return authenticate(
      name, password, peer,
      [](const User&, Instant) -> Result<std::optional<Refusal>> { return std::nullopt; });
}

Result<std::optional<Refusal>> AccountsFile::check_code_locked(const User& user,
                                                               std::string_view code, Instant now) {
  if (!user.has_totp) return std::nullopt;
  if (code.empty()) return Refusal::kNeedsCode;
  auto kept = totp_locked(user.name);
  if (!kept) return std::unexpected(kept.error());
  if (!*kept) return Refusal::kWrong;
  const auto step = match_totp((*kept)->secret, code, now, (*kept)->last_step);
  wipe((*kept)->secret);
  if (!step) return Refusal::kWrong;
  std::ignore = TRY(database_.change("UPDATE totp SET last_step = ? WHERE user = ?",
                                     {*step, std::string_view(user.name)}));
  return std::nullopt;
}

Result<SignIn> AccountsFile::begin_session_locked(const User& user, SignedInBy by, Instant now) {
  const auto random = TRY(random_bytes(kSecretBytes));
  const auto random_id = TRY(random_bytes(kIdBytes));
  SignIn sign_in{.secret = to_base64url(random),
                 .principal = principal_of(user, by, "s_" + to_hex(random_id)),
                 .expires_at = now + options_.session_lasts};
  sign_in.principal.csrf = csrf_of(sign_in.secret);
  const std::string_view name = user.name;
  const std::string hashed = sha256(sign_in.secret);
  const auto change = [&](std::string_view sql, std::initializer_list<SqlValue> values) {
    return database_.change(sql, values);
  };
  std::ignore = TRY(change("DELETE FROM sessions WHERE expires_at <= ? OR seen_at <= ?",
                           {unix_ms(now), unix_ms(now - options_.session_idle)}));
  std::ignore =
      TRY(change("DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions "
                 "WHERE user = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)",
                 {name, static_cast<std::int64_t>(kSessionsPerUserMax - 1)}));
  std::ignore =
      TRY(change("INSERT INTO sessions (hash, id, user, signed_in_by, created_at, seen_at, "
                 "expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                 {Blob{hashed}, std::string_view(sign_in.principal.session), name, word_of(by),
                  unix_ms(now), unix_ms(now), unix_ms(sign_in.expires_at)}));
  std::ignore =
      TRY(change("UPDATE users SET last_sign_in = ? WHERE name = ?", {unix_ms(now), name}));
  return sign_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view code,
                                                            std::string_view peer) {
  SignIn signed_in;
  const auto refused = TRY(authenticate(
      name, password, peer, [&](const User& user, Instant now) -> Result<std::optional<Refusal>> {
        const auto refusal = check_code_locked(user, code, now);
        if (!refusal || *refusal) return refusal;
        auto begun = begin_session_locked(user, SignedInBy::kPassword, now);
        if (!begun) return std::unexpected(begun.error());
        signed_in = *std::move(begun);
        return std::nullopt;
      }));
  if (refused) return *refused;
  return signed_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in_external(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto user = find_locked(name);
  if (!user) return std::unexpected(user.error());
  // A provider identifies its own users; it can't speak for a purely local one.
  if (!*user || ((*user)->local && (*user)->subject.empty())) return Refusal::kWrong;
  if ((*user)->disabled) return Refusal::kDisabled;
  User identity = **user;
  identity.must_change_password = false;  // the password was not used
  auto begun = TRY(begin_session_locked(identity, SignedInBy::kOpenId, clock_.now()));
  TRY(transaction.commit());
  return begun;
}

Result<std::optional<Principal>> AccountsFile::session(std::string_view secret) {
  const std::string hashed = sha256(secret);
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  struct SessionRow {
    std::string id;
    std::string user;
    SignedInBy by;
    Instant seen_at;
    Instant expires_at;
  };
  std::optional<SessionRow> found;
  TRY(database_.query(
      "SELECT id, user, signed_in_by, seen_at, expires_at FROM sessions WHERE hash = ?",
      {Blob{hashed}}, [&](const SqlRow& row) {
        found = {.id = row.text(0),
                 .user = row.text(1),
                 .by = signed_in_by(row.text(2)),
                 .seen_at = from_unix_ms(row.integer(3)),
                 .expires_at = from_unix_ms(row.integer(4))};
      }));
  if (!found || found->expires_at <= now || found->seen_at + options_.session_idle <= now) {
    return std::nullopt;
  }
  const auto user = find_locked(found->user);
  if (!user) return std::unexpected(user.error());
  if (!*user || (*user)->disabled) return std::nullopt;
  const std::chrono::milliseconds idle = options_.session_idle;
  if (now - found->seen_at >= std::min(kSeenStep, idle / 4)) {
    // If this can't be written, the session merely ends earlier.
    static_cast<void>(database_.change("UPDATE sessions SET seen_at = ? WHERE hash = ?",
                                       {unix_ms(now), Blob{hashed}}));
  }
  Principal principal = principal_of(**user, found->by, found->id);
  if (found->by == SignedInBy::kOpenId) principal.must_change_password = false;
  principal.csrf = csrf_of(secret);
  return principal;
}

Result<void> AccountsFile::sign_out(std::string_view secret) {
  const std::string hashed = sha256(secret);
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(database_.change("DELETE FROM sessions WHERE hash = ?", {Blob{hashed}}));
  return {};
}

}  // namespace pennyweight::access
