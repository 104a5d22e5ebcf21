// Base64url without padding (RFC 4648, section 5): bytes that stand in an address as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::api {

std::string to_base64url(std::string_view bytes);
// Nothing where it is not exactly what to_base64url() writes: other letters, padding, rest bits.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace pennyweight::api
