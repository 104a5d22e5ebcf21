// Encodings for messages to and from a provider: base64url, forms, and random texts.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight::access::oidc {

// Whether to_base64url() may have written it; not empty.
bool is_base64url(std::string_view text);
// 256 random bits in characters that are safe in a URL.
std::string random_text();
// application/x-www-form-urlencoded (RFC 6749, appendix B); works for a query as well.
std::string form_encoded(std::string_view text);
// "Basic …": RFC 6749, section 2.3.1.
std::string basic_authorization(std::string_view id, std::string_view secret);

}  // namespace pennyweight::access::oidc
