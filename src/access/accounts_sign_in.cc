// Who is let in, and for how long: passwords, codes, lock-outs, sessions.
#include <fmt/format.h>

#include <algorithm>

#include "access/accounts_file.h"
#include "access/lock_out.h"
#include "access/password.h"
#include "access/totp.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 8;
// How exactly it is known when a session was last seen: writing it at each request would cost each
// request a write to disk.
constexpr std::chrono::milliseconds kSeenStep{60'000};

std::string_view word_of(SignedInBy by) {
  return by == SignedInBy::kOpenId ? "openid" : "password";
}
SignedInBy signed_in_by(std::string_view word) {
  return word == "openid" ? SignedInBy::kOpenId : SignedInBy::kPassword;
}

// Of the session's secret, so that it need not be kept, and of no use to find that out.
std::string csrf_of(std::string_view secret) {
  return base64url(hmac_sha256(secret, "pennyweight csrf"));
}

}  // namespace

Result<std::optional<AccountsFile::Credentials>> AccountsFile::credentials_locked(
    std::string_view name) {
  const auto user = find_locked(name);
  if (!user) return std::unexpected(user.error());
  if (!*user) return std::nullopt;
  Credentials credentials{.user = **user, .hash = ""};
  auto done = database_.query("SELECT coalesce(password, '') FROM users WHERE name = ?", {name},
                              [&](const SqlRow& row) { credentials.hash = row.text(0); });
  if (!done) return std::unexpected(done.error());
  return credentials;
}

AccountsFile::Attempt AccountsFile::attempt_of(std::string_view name, std::string_view peer) const {
  Attempt attempt{.user_key = hmac_sha256(attempts_key_, "user " + in_small_letters(name)),
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
  if (auto counted = count_failure(database_, attempt.user_key, now, rule); !counted) {
    return counted;
  }
  if (attempt.peer_key.empty()) return {};
  return count_failure(database_, attempt.peer_key, now, rule);
}

Result<std::optional<Refusal>> AccountsFile::prove(std::string_view name, std::string_view password,
                                                   std::string_view peer, const Then& then) {
  const std::string typed = in_small_letters(name);
  const Attempt attempt = attempt_of(name, peer);
  std::string hashed;
  {
    const std::lock_guard lock(mutex_);
    const auto locked = is_locked_out_locked(attempt, clock_.now());
    if (!locked) return std::unexpected(locked.error());
    if (*locked) return Refusal::kLockedOut;
    const auto found = credentials_locked(typed);
    if (!found) return std::unexpected(found.error());
    if (*found) hashed = (*found)->hash;
  }
  // The same work whether there is such a user or not.
  const bool has_password = !hashed.empty() && password.size() <= kPasswordBytesMax;
  const auto fitting =
      fits(password.substr(0, kPasswordBytesMax), hashed.empty() ? dummy_hash_ : hashed);
  if (!fitting) return std::unexpected(fitting.error());

  const std::lock_guard lock(mutex_);
  auto transaction = SqlTransaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  const Instant now = clock_.now();
  // Again: many guesses that were begun at once must tell no more than as many one by one.
  const auto locked = is_locked_out_locked(attempt, now);
  if (!locked) return std::unexpected(locked.error());
  if (*locked) return Refusal::kLockedOut;
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
    if (auto counted = count_failure_locked(attempt, now); !counted) {
      return std::unexpected(counted.error());
    }
  } else if (refusal) {
    return refusal;
  } else if (auto forgiven = forgive(database_, attempt.user_key); !forgiven) {
    // Not the address: who has one account of his own could go on guessing at others'.
    return std::unexpected(forgiven.error());
  }
  if (auto done = transaction->commit(); !done) return std::unexpected(done.error());
  return refusal;
}

Result<std::optional<Refusal>> AccountsFile::check_password(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view peer) {
  return prove(name, password, peer,
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
  const auto used = database_.change("UPDATE totp SET last_step = ? WHERE user = ?",
                                     {*step, std::string_view(user.name)});
  if (!used) return std::unexpected(used.error());
  return std::nullopt;
}

Result<SignIn> AccountsFile::begin_session_locked(const User& user, SignedInBy by, Instant now) {
  const auto random = random_bytes(kSecretBytes);
  if (!random) return std::unexpected(random.error());
  const auto random_id = random_bytes(kIdBytes);
  if (!random_id) return std::unexpected(random_id.error());
  SignIn sign_in{.secret = base64url(*random),
                 .principal = principal_of(user, by, "s_" + hexadecimal(*random_id)),
                 .expires_at = now + options_.session_lasts};
  sign_in.principal.csrf = csrf_of(sign_in.secret);
  const std::string_view name = user.name;
  const std::string hashed = sha256(sign_in.secret);
  const auto change = [&](std::string_view sql, std::initializer_list<SqlValue> values) {
    return database_.change(sql, values);
  };
  if (auto done = change("DELETE FROM sessions WHERE expires_at <= ? OR seen_at <= ?",
                         {unix_ms(now), unix_ms(now - options_.session_idle)});
      !done) {
    return std::unexpected(done.error());
  }
  if (auto done = change("DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions "
                         "WHERE user = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)",
                         {name, static_cast<std::int64_t>(kSessionsPerUserMax - 1)});
      !done) {
    return std::unexpected(done.error());
  }
  if (auto done = change("INSERT INTO sessions (hash, id, user, signed_in_by, created_at, seen_at, "
                         "expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                         {Blob{hashed}, std::string_view(sign_in.principal.session), name,
                          word_of(by), unix_ms(now), unix_ms(now), unix_ms(sign_in.expires_at)});
      !done) {
    return std::unexpected(done.error());
  }
  if (auto done = change("UPDATE users SET last_sign_in = ? WHERE name = ?", {unix_ms(now), name});
      !done) {
    return std::unexpected(done.error());
  }
  return sign_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in(std::string_view name,
                                                            std::string_view password,
                                                            std::string_view code,
                                                            std::string_view peer) {
  SignIn signed_in;
  const auto refused = prove(name, password, peer,
                             [&](const User& user, Instant now) -> Result<std::optional<Refusal>> {
                               const auto refusal = check_code_locked(user, code, now);
                               if (!refusal || *refusal) return refusal;
                               auto begun = begin_session_locked(user, SignedInBy::kPassword, now);
                               if (!begun) return std::unexpected(begun.error());
                               signed_in = *std::move(begun);
                               return std::nullopt;
                             });
  if (!refused) return std::unexpected(refused.error());
  if (*refused) return **refused;
  return signed_in;
}

Result<std::variant<SignIn, Refusal>> AccountsFile::sign_in_vouched(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto transaction = SqlTransaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  const auto user = find_locked(name);
  if (!user) return std::unexpected(user.error());
  // A provider says who somebody is among its own; it can't speak for a user who is only ours.
  if (!*user || ((*user)->local && (*user)->subject.empty())) return Refusal::kWrong;
  if ((*user)->disabled) return Refusal::kDisabled;
  User vouched = **user;
  vouched.must_change_password = false;  // it was not asked for
  auto begun = begin_session_locked(vouched, SignedInBy::kOpenId, clock_.now());
  if (!begun) return std::unexpected(begun.error());
  if (auto done = transaction->commit(); !done) return std::unexpected(done.error());
  return *std::move(begun);
}

Result<std::optional<Principal>> AccountsFile::session(std::string_view secret) {
  const std::string hashed = sha256(secret);
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  struct Found {
    std::string id;
    std::string user;
    SignedInBy by;
    Instant seen_at;
    Instant expires_at;
  };
  std::optional<Found> found;
  auto done = database_.query(
      "SELECT id, user, signed_in_by, seen_at, expires_at FROM sessions WHERE hash = ?",
      {Blob{hashed}}, [&](const SqlRow& row) {
        found = {.id = row.text(0),
                 .user = row.text(1),
                 .by = signed_in_by(row.text(2)),
                 .seen_at = from_unix_ms(row.integer(3)),
                 .expires_at = from_unix_ms(row.integer(4))};
      });
  if (!done) return std::unexpected(done.error());
  if (!found || found->expires_at <= now || found->seen_at + options_.session_idle <= now) {
    return std::nullopt;
  }
  const auto user = find_locked(found->user);
  if (!user) return std::unexpected(user.error());
  if (!*user || (*user)->disabled) return std::nullopt;
  const std::chrono::milliseconds idle = options_.session_idle;
  if (now - found->seen_at >= std::min(kSeenStep, idle / 4)) {
    // Where it can't be written the session ends earlier, and that is all.
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
  const auto done = database_.change("DELETE FROM sessions WHERE hash = ?", {Blob{hashed}});
  if (!done) return std::unexpected(done.error());
  return {};
}

}  // namespace pennyweight::access
