// Percent-encoding: bytes that an address can't hold as they are, each written "%2F" (RFC 3986).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {

// Letters, digits and "-._~" (RFC 3986, section 2.3) stay; every other byte is encoded.
std::string percent_encoded(std::string_view text);
// The same, except for what stays beside letters and digits: application/x-www-form-urlencoded
// keeps "-._*", say.
std::string percent_encoded(std::string_view text, std::string_view kept_marks);

// Appends "%2F" for one byte, where the caller decides which bytes to encode.
void append_percent(std::string& out, char byte);

// Every "%2F" as its byte, in capitals or small letters; nothing where two hexadecimal digits don't
// follow a '%'. Other characters stay: '+' is not a space.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace pennyweight
