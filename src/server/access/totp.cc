#include "server/access/totp.h"

#include <fmt/format.h>

#include <chrono>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/percent.h"
#include "server/access/secrets.h"

namespace pennyweight::access {
namespace {

constexpr std::chrono::seconds kStep{30};
constexpr std::string_view kIssuer = "pennyweight";

}  // namespace

std::int64_t totp_step(Instant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()) / kStep;
}

// RFC 4226, section 5.3.
std::string totp_code(std::string_view secret, std::int64_t step, unsigned digits) {
  std::string counter(8, '\0');
  for (std::size_t i = 0; i < counter.size(); ++i) {
    counter[i] = static_cast<char>(static_cast<std::uint64_t>(step) >> (8 * (7 - i)) & 0xffU);
  }
  const std::string digest = hmac_sha1(secret, counter);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(digest[i]));
  };
  const std::size_t offset = byte(19) & 0xfU;
  const std::uint32_t number = (byte(offset) & 0x7fU) << 24 | byte(offset + 1) << 16 |
                               byte(offset + 2) << 8 | byte(offset + 3);
  std::uint32_t modulus = 1;
  for (unsigned i = 0; i < digits; ++i) modulus *= 10;
  return fmt::format("{:0{}}", number % modulus, digits);
}

std::optional<std::int64_t> match_totp(std::string_view secret, std::string_view code, Instant at,
                                       std::int64_t last_used) {
  std::string typed;
  for (const char c : code) {
    if (c != ' ') typed += c;
  }
  std::optional<std::int64_t> found;
  const std::int64_t now = totp_step(at);
  for (std::int64_t step = now - 1; step <= now + 1; ++step) {
    // All three steps are compared, so that the time taken does not tell which one matched.
    if (is_same_secret(totp_code(secret, step), typed) && step > last_used) found = step;
  }
  return found;
}

// https://github.com/google/google-authenticator/wiki/Key-Uri-Format
std::string totp_uri(std::string_view secret, std::string_view user) {
  return fmt::format("otpauth://totp/{}:{}?secret={}&issuer={}&algorithm=SHA1&digits={}&period={}",
                     kIssuer, percent_encoded(user), to_base32(secret), kIssuer, kTotpDigits,
                     kStep.count());
}

}  // namespace pennyweight::access
