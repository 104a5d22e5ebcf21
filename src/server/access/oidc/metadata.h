// Metadata: the endpoints that a provider publishes (OpenID Connect Discovery 1.0).
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access::oidc {

struct Metadata {
  std::string issuer;
  std::string authorization_endpoint;
  std::string token_endpoint;
  std::string jwks_uri;
  std::string userinfo_endpoint;  // empty: none
  bool sends_issuer = false;      // its answers have `iss` (RFC 9207)
  bool operator==(const Metadata&) const = default;
};

// Whether a URL uses TLS, or points to this machine.
bool is_safe_url(std::string_view url);

// "https://…/.well-known/openid-configuration".
std::string metadata_url(std::string_view issuer);
// An Error: the document is another issuer's, lacks an endpoint, has one without TLS, or the
// provider does not support the code flow or our client authentication.
Result<Metadata> read_metadata(std::string_view json, std::string_view issuer, bool has_secret);

}  // namespace pennyweight::access::oidc
