// Bytes as text of few letters: hexadecimal (base 16), base 32, base 64 and base64url (RFC 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {

std::string to_hex(std::string_view bytes);  // small letters
// The value of a hexadecimal digit, capital or small.
constexpr std::optional<unsigned> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A') + 10;
  return std::nullopt;
}

std::string to_base32(std::string_view bytes);     // section 6, without padding
std::string to_base64(std::string_view bytes);     // section 4, padded with '='
std::string to_base64url(std::string_view bytes);  // section 5, without padding
// Nothing where `text` is not exactly what to_base64url() writes: other letters, padding, or bits
// left over at the end that are not zero.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace pennyweight
