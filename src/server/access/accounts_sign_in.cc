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

// The first wait of a user at an address who has failed too often.
constexpr std::chrono::milliseconds kFirstWait{30'000};
// An address may fail so many times as often as one user there, a user from everywhere so many.
constexpr std::uint32_t kAddressFailures = 10;
constexpr std::uint32_t kUserFailures = 20;
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

// What a browser says of itself, cut, and without what could not be stored or shown.
std::string agent_text(std::string_view agent) {
  std::string text;
  for (const char c : agent.substr(0, kAgentBytesMax)) {
    text += c >= ' ' && c < 127 ? c : '?';
  }
  return text;
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
  Attempt attempt{.pair_key = "",
                  .user_key = hmac_sha256(attempts_key_, "user " + ascii::lower_case(name)),
                  .peer_key = ""};
  if (!peer.empty()) attempt.peer_key = hmac_sha256(attempts_key_, "peer " + address_group(peer));
  // The user's key comes first, so that what is counted for the user can be found.
  attempt.pair_key = attempt.user_key + (peer.empty() ? std::string(1, '-') : attempt.peer_key);
  return attempt;
}

Result<std::chrono::milliseconds> AccountsFile::wait_locked(const Attempt& attempt, Instant now) {
  auto wait = TRY(access::lock_out_left(database_, attempt.pair_key, now));
  const bool is_known = TRY(is_known_device_locked(attempt, now));
  if (is_known) return wait;
  const auto of_user = TRY(access::lock_out_left(database_, attempt.user_key, now));
  wait = std::max(wait, of_user);
  if (attempt.peer_key.empty()) return wait;
  const auto of_peer = TRY(access::lock_out_left(database_, attempt.peer_key, now));
  return std::max(wait, of_peer);
}

Result<bool> AccountsFile::is_known_device_locked(const Attempt& attempt, Instant now) {
  if (attempt.peer_key.empty()) return false;
  return is_known_device(database_, attempt.pair_key, now);
}

Result<void> AccountsFile::count_failure_locked(const Attempt& attempt, Instant now) {
  const std::chrono::milliseconds most = options_.lock_out;
  TRY(count_failure(database_, attempt.pair_key, now,
                    {.failures_max = options_.failures_max,
                     .within = kFailureKeptFor,
                     .first = std::min<std::chrono::milliseconds>(kFirstWait, most),
                     .most = most}));
  TRY(count_failure(database_, attempt.user_key, now,
                    {.failures_max = options_.failures_max * kUserFailures,
                     .within = most,
                     .first = most,
                     .most = most}));
  if (attempt.peer_key.empty()) return {};
  return count_failure(database_, attempt.peer_key, now,
                       {.failures_max = options_.failures_max * kAddressFailures,
                        .within = most,
                        .first = most,
                        .most = most});
}

Result<std::chrono::milliseconds> AccountsFile::lock_out_left(std::string_view name,
                                                              std::string_view peer) {
  const Attempt attempt = to_attempt(name, peer);
  const std::lock_guard lock(mutex_);
  return wait_locked(attempt, clock_.now());
}

Result<std::optional<Refusal>> AccountsFile::authenticate(std::string_view name,
                                                          std::string_view password,
                                                          std::string_view peer,
                                                          const OnAuthenticated& then,
                                                          const Recorder& record) {
  const std::string typed = ascii::lower_case(name);
  const Attempt attempt = to_attempt(name, peer);
  std::string hashed;
  {
    const std::lock_guard lock(mutex_);
    const auto wait = TRY(wait_locked(attempt, clock_.now()));
    if (wait.count() > 0) return Refusal::kLockedOut;
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
  const auto wait = TRY(wait_locked(attempt, now));
  if (wait.count() > 0) return Refusal::kLockedOut;
  const auto found = credentials_locked(typed);
  if (!found) return std::unexpected(found.error());
  std::optional<Refusal> refusal;
  Change change;
  if (!has_password || !*fitting || !*found || (*found)->hash != hashed) {
    refusal = Refusal::kWrong;
  } else if ((*found)->user.disabled) {
    refusal = Refusal::kDisabled;
  } else {
    const auto refused = then((*found)->user, now, change);
    if (!refused) return refused;
    refusal = *refused;
  }
  // The right password of a disabled user counts as a wrong one: otherwise the lock-out would tell
  // which one is right.
  if (refusal == Refusal::kWrong || refusal == Refusal::kDisabled) {
    TRY(count_failure_locked(attempt, now));
    TRY(transaction.commit());
    return refusal;
  }
  if (refusal) return refusal;
  // User and address stay counted: otherwise the owner of one account could go on guessing others'.
  TRY(clear_failures(database_, attempt.pair_key));
  if (!attempt.peer_key.empty()) {
    TRY(remember_device(database_, attempt.pair_key, now));
  }
  TRY(commit_recorded_locked(transaction, record, change));
  return std::nullopt;
}

Result<std::optional<Refusal>> AccountsFile::check_password(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view peer) {
  return authenticate(
      name, password, peer,
      [](const User&, Instant, Change&) -> Result<std::optional<Refusal>> { return std::nullopt; });
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
  if (!step) {
    const auto recovered = TRY(use_recovery_code_locked(user.name, code));
    return recovered ? std::nullopt : std::optional(Refusal::kWrong);
  }
  std::ignore = TRY(database_.change("UPDATE totp SET last_step = ? WHERE user = ?",
                                     {*step, std::string_view(user.name)}));
  return std::nullopt;
}

Result<SignIn> AccountsFile::begin_session_locked(const User& user, SignedInBy by,
                                                  const Device& device, Instant now,
                                                  Change& change_done) {
  const auto random = TRY(random_bytes(kSecretBytes));
  const auto random_id = TRY(random_bytes(kIdBytes));
  SignIn sign_in{.secret = to_base64url(random),
                 .principal = principal_of(user, by, "s_" + to_hex(random_id)),
                 .expires_at = now + options_.session_lasts};
  sign_in.principal.proved_at = now;
  sign_in.principal.csrf = csrf_of(sign_in.secret);
  const std::string_view name = user.name;
  const std::string hashed = sha256(sign_in.secret);
  const std::string agent = agent_text(device.agent);
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
                 "expires_at, proved_at, peer, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 {Blob{hashed}, std::string_view(sign_in.principal.session), name, word_of(by),
                  unix_ms(now), unix_ms(now), unix_ms(sign_in.expires_at), unix_ms(now),
                  std::string_view(device.peer), std::string_view(agent)}));
  std::ignore =
      TRY(change("UPDATE users SET last_sign_in = ? WHERE name = ?", {unix_ms(now), name}));
  if (by == SignedInBy::kOpenId) {
    std::ignore =
        TRY(change("UPDATE users SET vouched_at = ? WHERE name = ?", {unix_ms(now), name}));
  }
  change_done.user_after = user;
  change_done.session = Session{.id = sign_in.principal.session,
                                .user = user.name,
                                .by = by,
                                .created_at = now,
                                .seen_at = now,
                                .expires_at = sign_in.expires_at,
                                .peer = device.peer,
                                .agent = agent};
  return sign_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view code,
                                                            const Device& device,
                                                            const Recorder& record) {
  SignIn signed_in;
  const auto refused = TRY(authenticate(
      name, password, device.peer,
      [&](const User& user, Instant now, Change& change) -> Result<std::optional<Refusal>> {
        const auto refusal = check_code_locked(user, code, now);
        if (!refusal || *refusal) return refusal;
        signed_in = TRY(begin_session_locked(user, SignedInBy::kPassword, device, now, change));
        return std::nullopt;
      },
      record));
  if (refused) return *refused;
  return signed_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in_external(std::string_view name,
                                                                     const Device& device,
                                                                     const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto user = find_locked(name);
  if (!user) return std::unexpected(user.error());
  // A provider identifies its own users; it can't speak for a purely local one.
  if (!*user || ((*user)->local && (*user)->subject.empty())) return Refusal::kWrong;
  if ((*user)->disabled) return Refusal::kDisabled;
  User identity = **user;
  identity.must_change_password = false;  // the password was not used
  Change change;
  auto begun =
      TRY(begin_session_locked(identity, SignedInBy::kOpenId, device, clock_.now(), change));
  TRY(commit_recorded_locked(transaction, record, change));
  return begun;
}

Result<void> AccountsFile::stop_vouching(std::string_view name, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  Change change;
  change.user_before = TRY(existing_locked(name));
  if (change.user_before->local) return {};
  std::ignore = TRY(database_.change("UPDATE users SET vouched_at = NULL WHERE name = ?", {name}));
  TRY(end_sessions_locked(name, ""));
  change.user_after = change.user_before;
  return commit_recorded_locked(transaction, record, change);
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
    Instant proved_at;
  };
  std::optional<SessionRow> found;
  TRY(database_.query(
      "SELECT id, user, signed_in_by, seen_at, expires_at, coalesce(proved_at, created_at) "
      "FROM sessions WHERE hash = ?",
      {Blob{hashed}}, [&](const SqlRow& row) {
        found = {.id = row.text(0),
                 .user = row.text(1),
                 .by = signed_in_by(row.text(2)),
                 .seen_at = from_unix_ms(row.integer(3)),
                 .expires_at = from_unix_ms(row.integer(4)),
                 .proved_at = from_unix_ms(row.integer(5))};
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
  principal.proved_at = found->proved_at;
  return principal;
}

Result<std::vector<Session>> AccountsFile::select_sessions_locked(
    std::string_view where, std::initializer_list<SqlValue> values) {
  std::vector<Session> sessions;
  TRY(
      database_.query("SELECT id, user, signed_in_by, created_at, seen_at, expires_at, peer, agent "
                      "FROM sessions " +
                          std::string(where),
                      values, [&](const SqlRow& row) {
                        sessions.push_back({.id = row.text(0),
                                            .user = row.text(1),
                                            .by = signed_in_by(row.text(2)),
                                            .created_at = from_unix_ms(row.integer(3)),
                                            .seen_at = from_unix_ms(row.integer(4)),
                                            .expires_at = from_unix_ms(row.integer(5)),
                                            .peer = row.text(6),
                                            .agent = row.text(7)});
                      }));
  return sessions;
}

Result<std::vector<Session>> AccountsFile::sessions(std::string_view user) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  return select_sessions_locked(
      "WHERE user = ? AND expires_at > ? AND seen_at > ? ORDER BY created_at DESC, id",
      {user, unix_ms(now), unix_ms(now - options_.session_idle)});
}

Result<void> AccountsFile::sign_out(std::string_view secret, const Recorder& record) {
  const std::string hashed = sha256(secret);
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto found = TRY(select_sessions_locked("WHERE hash = ?", {Blob{hashed}}));
  if (found.empty()) return {};
  std::ignore = TRY(database_.change("DELETE FROM sessions WHERE hash = ?", {Blob{hashed}}));
  Change change;
  change.session = found.front();
  return commit_recorded_locked(transaction, record, change);
}

Result<void> AccountsFile::end_session(std::string_view user, std::string_view id,
                                       const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  const auto found = TRY(select_sessions_locked("WHERE user = ? AND id = ?", {user, id}));
  if (found.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("'{}' has no session '{}'", user, id));
  }
  std::ignore = TRY(database_.change("DELETE FROM sessions WHERE user = ? AND id = ?", {user, id}));
  Change change;
  change.user_after = TRY(existing_locked(user));
  change.session = found.front();
  return commit_recorded_locked(transaction, record, change);
}

Result<std::uint64_t> AccountsFile::end_sessions(std::string_view user,
                                                 std::string_view keep_session,
                                                 const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  Change change;
  change.user_after = TRY(existing_locked(user));
  const std::uint64_t ended = TRY(
      database_.change("DELETE FROM sessions WHERE user = ? AND id <> ?", {user, keep_session}));
  TRY(commit_recorded_locked(transaction, record, change));
  return ended;
}

Result<std::optional<Refusal>> AccountsFile::confirm_session(std::string_view secret,
                                                             std::string_view password,
                                                             std::string_view code,
                                                             std::string_view peer,
                                                             const Recorder& record) {
  const auto who = TRY(session(secret));
  if (!who) return Refusal::kWrong;
  const std::string hashed = sha256(secret);
  return authenticate(
      who->name, password, peer,
      [&](const User& user, Instant now, Change& change) -> Result<std::optional<Refusal>> {
        const auto refusal = check_code_locked(user, code, now);
        if (!refusal || *refusal) return refusal;
        const auto proved = TRY(database_.change("UPDATE sessions SET proved_at = ? WHERE hash = ?",
                                                 {unix_ms(now), Blob{hashed}}));
        if (proved == 0) return Refusal::kWrong;  // it has just ended
        change.user_after = user;
        return std::nullopt;
      },
      record);
}

}  // namespace pennyweight::access
