// Metadata: where a provider's doors are, as it publishes it (OpenID Connect Discovery 1.0).
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
  bool sends_issuer = false;      // answers bear `iss` (RFC 9207)
  bool operator==(const Metadata&) const = default;
};

// TLS, or an address of this machine.
bool is_safe_url(std::string_view url);

// "https://…/.well-known/openid-configuration".
std::string metadata_url(std::string_view issuer);
// An Error where the document is another issuer's, lacks a door, has one without TLS, or the
// provider can't do what we need: the code flow, and a client that proves itself as we do.
Result<Metadata> read_metadata(std::string_view json, std::string_view issuer, bool has_secret);

}  // namespace pennyweight::access::oidc
