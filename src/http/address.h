// What of a URL may be told: scheme, host, port and path. A name, a password, a query (which may
// hold a token) and a fragment stay out of messages and logs.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::http {

// "https://user:secret@host:6443/api?token=x" is "https://host:6443/api"; what is no URL is told as
// "(not a URL)". Only printable ASCII, at most kShownBytesMax bytes.
std::string shown_address(std::string_view url);
inline constexpr std::size_t kShownBytesMax = 512;

// Scheme, host and port of both are the same (RFC 6454), a default port being the same as none.
bool same_origin(std::string_view one, std::string_view other);

}  // namespace pennyweight::http
