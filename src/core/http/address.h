// The part of a URL that messages and logs may show: scheme, host, port and path. A name, a
// password, a query (which may hold a token) and a fragment are left out.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::http {

// "https://host:6443/api" for "https://user:secret@host:6443/api?token=x", and "(not a URL)" for
// any other text. Only printable ASCII, at most kShownBytesMax bytes.
std::string shown_address(std::string_view url);
inline constexpr std::size_t kShownBytesMax = 512;

// Whether both have one scheme, host and port (RFC 6454); the default port is the same as none.
bool same_origin(std::string_view one, std::string_view other);
// Whether `to` is the same host over https, on its standard port, as `from` is over http.
bool is_upgrade_to_tls(std::string_view from, std::string_view to);

}  // namespace pennyweight::http
