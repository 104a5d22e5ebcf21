// How things are written on the way to a provider and back: base64url, forms, and random texts.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::access::oidc {

// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes);
// What base64url() may have written; not empty.
bool is_base64url(std::string_view text);
std::string sha256(std::string_view bytes);  // 32 bytes
// 256 random bits in letters that a URL may hold.
std::string random_text();
// application/x-www-form-urlencoded (RFC 6749, appendix B), which a query takes as well.
std::string form_encoded(std::string_view text);
// "Basic …": RFC 6749, section 2.3.1.
std::string basic_authorization(std::string_view id, std::string_view secret);
// Both have the same length and bytes; how long that takes does not tell where they differ.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace pennyweight::access::oidc
