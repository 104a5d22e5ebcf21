// The second factor: a secret that an authenticator app shares with us.
#include <fmt/format.h>

#include "access/accounts_file.h"
#include "access/qr_svg.h"
#include "access/totp.h"

namespace pennyweight::access {
namespace {

// What the secret is sealed for: put into another's row it opens nothing.
std::string sealed_for(std::string_view user) { return fmt::format("totp {}", user); }

}  // namespace

Result<std::optional<AccountsFile::Totp>> AccountsFile::totp_locked(std::string_view user) {
  std::optional<Totp> totp;
  auto done = database_.query(
      "SELECT sealed, confirmed, last_step FROM totp WHERE user = ?", {user},
      [&](const SqlRow& row) {
        totp = {.secret = row.text(0), .confirmed = row.is_true(1), .last_step = row.integer(2)};
      });
  if (!done) return std::unexpected(done.error());
  if (!totp) return std::nullopt;
  auto secret = key_.unseal(totp->secret, sealed_for(user));
  if (!secret) {
    return std::unexpected(secret.error().during(
        fmt::format("the second factor of '{}' can't be read; put the right {}.key back, or take "
                    "the factor away with 'pennyweight user totp-off {}'",
                    user, options_.path, user)));
  }
  totp->secret = *std::move(secret);
  return totp;
}

Result<Accounts::Enrolment> AccountsFile::begin_totp(std::string_view name) {
  auto secret = random_bytes(kTotpSecretBytes);
  if (!secret) return std::unexpected(secret.error());
  const auto sealed = key_.seal(*secret, sealed_for(name));
  if (!sealed) return std::unexpected(sealed.error());
  {
    const std::lock_guard lock(mutex_);
    auto transaction = SqlTransaction::begin(database_);
    if (!transaction) return std::unexpected(transaction.error());
    const auto user = existing_locked(name);
    if (!user) return std::unexpected(user.error());
    if (!user->local) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' signs in by OpenID Connect; the provider asks for a second "
                              "factor, or does not",
                              name));
    }
    if (user->has_totp) {
      return fail(ErrorCode::kConflict,
                  fmt::format("'{}' has a second factor; take it away first", name));
    }
    const auto done = database_.change(
        "INSERT OR REPLACE INTO totp (user, sealed, confirmed, last_step) VALUES (?, ?, 0, 0)",
        {name, Blob{*sealed}});
    if (!done) return std::unexpected(done.error());
    if (auto committed = transaction->commit(); !committed) {
      return std::unexpected(committed.error());
    }
  }
  Enrolment enrolment{
      .secret = base32(*secret), .uri = totp_uri(*secret, name), .qr_svg = std::string()};
  wipe(*secret);
  auto picture = qr_svg(enrolment.uri, "QR code for an authenticator app");
  if (!picture) return std::unexpected(picture.error());
  enrolment.qr_svg = *std::move(picture);
  return enrolment;
}

Result<bool> AccountsFile::confirm_totp(std::string_view name, std::string_view code) {
  const std::lock_guard lock(mutex_);
  auto transaction = SqlTransaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  auto totp = totp_locked(name);
  if (!totp) return std::unexpected(totp.error());
  if (!*totp) {
    return fail(ErrorCode::kNotFound, fmt::format("no second factor of '{}' was begun", name));
  }
  if ((*totp)->confirmed) {
    return fail(ErrorCode::kConflict, fmt::format("'{}' has a second factor already", name));
  }
  const auto step = match_totp((*totp)->secret, code, clock_.now(), (*totp)->last_step);
  wipe((*totp)->secret);
  if (!step) return false;
  const auto done = database_.change("UPDATE totp SET confirmed = 1, last_step = ? WHERE user = ?",
                                     {*step, name});
  if (!done) return std::unexpected(done.error());
  if (auto committed = transaction->commit(); !committed) {
    return std::unexpected(committed.error());
  }
  return true;
}

Result<void> AccountsFile::remove_totp(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto transaction = SqlTransaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  if (const auto user = existing_locked(name); !user) return std::unexpected(user.error());
  if (auto done = database_.change("DELETE FROM totp WHERE user = ?", {name}); !done) {
    return std::unexpected(done.error());
  }
  return transaction->commit();
}

}  // namespace pennyweight::access
