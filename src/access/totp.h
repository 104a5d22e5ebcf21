// One-time codes of an authenticator app: RFC 6238 with SHA-1, 30 seconds and 6 digits, which is
// what every app can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/instant.h"

namespace pennyweight::access {

inline constexpr std::size_t kTotpSecretBytes = 20;  // RFC 4226, section 4: as long as the digest
inline constexpr unsigned kTotpDigits = 6;

// Which 30 seconds an instant lies in.
std::int64_t totp_step(Instant at);
std::string totp_code(std::string_view secret, std::int64_t step, unsigned digits = kTotpDigits);

// The step that a code belongs to: now, or one before or after, since clocks differ. Only those
// after `last_used`, so that a code counts once. Blanks in the code don't matter.
std::optional<std::int64_t> match_totp(std::string_view secret, std::string_view code, Instant at,
                                       std::int64_t last_used);

// What an app reads from a picture.
std::string totp_uri(std::string_view secret, std::string_view user);

}  // namespace pennyweight::access
