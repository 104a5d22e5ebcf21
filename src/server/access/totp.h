// One-time codes of authenticator apps: RFC 6238 with SHA-1, 30 seconds and 6 digits, which every
// app supports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/instant.h"

namespace pennyweight::access {

inline constexpr std::size_t kTotpSecretBytes = 20;  // RFC 4226, section 4: as long as the digest
inline constexpr unsigned kTotpDigits = 6;

// The number of the 30-second step that contains an instant.
std::int64_t totp_step(Instant at);
std::string totp_code(std::string_view secret, std::int64_t step, unsigned digits = kTotpDigits);

// The step of a code: the current one, or one before or after, since clocks differ. Only steps
// after `last_used`, so that a code works once. Blanks in the code are ignored.
std::optional<std::int64_t> match_totp(std::string_view secret, std::string_view code, Instant at,
                                       std::int64_t last_used);

// The URI that an app reads from the QR code.
std::string totp_uri(std::string_view secret, std::string_view user);

}  // namespace pennyweight::access
