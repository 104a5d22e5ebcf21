// The second factor: a secret shared with an authenticator app.
#include <fmt/format.h>

#include <tuple>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/access/accounts_file.h"
#include "server/access/password.h"
#include "server/access/qr_svg.h"
#include "server/access/totp.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kRecoveryCharacters = 16;

// A code as people type it, without its hyphens and blanks, in small letters.
std::string without_separators(std::string_view code) {
  std::string plain;
  for (const char c : ascii::lower_case(code)) {
    if (c != '-' && c != ' ') plain += c;
  }
  return plain;
}

// The purpose that the secret is sealed for: moved to another user's row, it can't be unsealed.
std::string sealed_for(std::string_view user) { return fmt::format("totp {}", user); }

}  // namespace

Result<std::optional<AccountsFile::Totp>> AccountsFile::totp_locked(std::string_view user) {
  std::optional<Totp> totp;
  TRY(database_.query(
      "SELECT sealed, confirmed, last_step FROM totp WHERE user = ?", {user},
      [&](const SqlRow& row) {
        totp = {.secret = row.text(0), .confirmed = row.is_true(1), .last_step = row.integer(2)};
      }));
  if (!totp) return std::nullopt;
  auto secret = key_.unseal(totp->secret, sealed_for(user));
  if (!secret) {
    return std::unexpected(secret.error().during(
        fmt::format("the second factor of '{}' can't be read; restore the right {}.key, or remove "
                    "the factor with 'pennyweight user totp-off {}'",
                    user, options_.path, user)));
  }
  totp->secret = *std::move(secret);
  return totp;
}

Result<Accounts::Enrolment> AccountsFile::begin_totp(std::string_view name) {
  auto secret = TRY(random_bytes(kTotpSecretBytes));
  const auto sealed = key_.seal(secret, sealed_for(name));
  if (!sealed) return std::unexpected(sealed.error());
  {
    const std::lock_guard lock(mutex_);
    auto transaction = TRY(SqlTransaction::begin(database_));
    const auto user = existing_locked(name);
    if (!user) return std::unexpected(user.error());
    if (!user->local) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' signs in by OpenID Connect; second factors are up to the "
                              "provider",
                              name));
    }
    if (user->has_totp) {
      return fail(ErrorCode::kConflict,
                  fmt::format("'{}' has a second factor; remove it first", name));
    }
    std::ignore = TRY(database_.change(
        "INSERT OR REPLACE INTO totp (user, sealed, confirmed, last_step) VALUES (?, ?, 0, 0)",
        {name, Blob{*sealed}}));
    TRY(transaction.commit());
  }
  Enrolment enrolment{
      .secret = to_base32(secret), .uri = totp_uri(secret, name), .qr_svg = std::string()};
  wipe(secret);
  auto picture = TRY(qr_svg(enrolment.uri, "QR code for an authenticator app"));
  enrolment.qr_svg = std::move(picture);
  return enrolment;
}

Result<bool> AccountsFile::confirm_totp(std::string_view name, std::string_view code,
                                        const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  auto totp = totp_locked(name);
  if (!totp) return std::unexpected(totp.error());
  if (!*totp) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no setup of a second factor was started for '{}'", name));
  }
  if ((*totp)->confirmed) {
    return fail(ErrorCode::kConflict, fmt::format("'{}' has a second factor already", name));
  }
  const auto step = match_totp((*totp)->secret, code, clock_.now(), (*totp)->last_step);
  wipe((*totp)->secret);
  if (!step) return false;
  std::ignore = TRY(database_.change("UPDATE totp SET confirmed = 1, last_step = ? WHERE user = ?",
                                     {*step, name}));
  Change change;
  change.user_after = TRY(existing_locked(name));
  TRY(commit_recorded_locked(transaction, record, change));
  return true;
}

Result<void> AccountsFile::remove_totp_locked(std::string_view user) {
  std::ignore = TRY(database_.change("DELETE FROM totp WHERE user = ?", {user}));
  std::ignore = TRY(database_.change("DELETE FROM recovery_codes WHERE user = ?", {user}));
  return {};
}

Result<void> AccountsFile::remove_totp(std::string_view name, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  Change change;
  change.user_before = TRY(existing_locked(name));
  TRY(remove_totp_locked(name));
  change.user_after = TRY(existing_locked(name));
  return commit_recorded_locked(transaction, record, change);
}

// Recovery codes are random enough for a plain digest: nobody guesses 80 bits.
Result<std::vector<std::string>> AccountsFile::make_recovery_codes(std::string_view name,
                                                                   const Recorder& record) {
  std::vector<std::string> codes;
  for (std::size_t i = 0; i < kRecoveryCodes; ++i) {
    auto code = TRY(readable_secret(kRecoveryCharacters));
    codes.push_back(std::move(code));
  }
  const std::lock_guard lock(mutex_);
  auto transaction = TRY(SqlTransaction::begin(database_));
  Change change;
  change.user_after = TRY(existing_locked(name));
  if (!change.user_after->has_totp) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("'{}' has no second factor, so recovery codes would be of no use", name));
  }
  std::ignore = TRY(database_.change("DELETE FROM recovery_codes WHERE user = ?", {name}));
  for (const std::string& code : codes) {
    const std::string hashed = sha256(without_separators(code));
    std::ignore = TRY(database_.change("INSERT INTO recovery_codes (user, hash) VALUES (?, ?)",
                                       {name, Blob{hashed}}));
  }
  TRY(commit_recorded_locked(transaction, record, change));
  return codes;
}

Result<std::uint64_t> AccountsFile::recovery_codes_left(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto count =
      TRY(database_.integer("SELECT count(*) FROM recovery_codes WHERE user = ?", {name}));
  return static_cast<std::uint64_t>(count.value_or(0));
}

Result<bool> AccountsFile::use_recovery_code_locked(std::string_view user, std::string_view code) {
  const std::string plain = without_separators(code);
  if (plain.size() != kRecoveryCharacters) return false;
  const std::string hashed = sha256(plain);
  const auto used = TRY(database_.change("DELETE FROM recovery_codes WHERE user = ? AND hash = ?",
                                         {user, Blob{hashed}}));
  return used > 0;
}

}  // namespace pennyweight::access
