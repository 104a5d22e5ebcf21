// Verifies ID tokens, a provider's signed claims (OpenID Connect Core 1.0, section 3.1.3.7), and
// logout tokens (Back-Channel Logout 1.0, section 2.6), with the keys that it publishes (RFC 7517).
#pragma once

#include <cjose/jwk.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "server/access/oidc/json_object.h"

namespace pennyweight::access::oidc {

inline constexpr std::size_t kTokenBytesMax = 64u << 10;
inline constexpr std::chrono::seconds kClockSkew{60};

// What a token says about its signature; not yet verified.
struct TokenHeader {
  std::string alg;
  std::string kid;  // empty: none
};

class KeySet {
 public:
  static constexpr std::size_t kKeysMax = 100;

  KeySet() = default;
  // Skips unusable keys: for encryption, on other curves, too short, or secret.
  static Result<KeySet> read(std::string_view json);

  // The one key that may have signed the token; null if there is none or more than one.
  const cjose_jwk_t* find(const TokenHeader& header) const;
  std::size_t size() const { return keys_.size(); }

 private:
  struct Release {
    void operator()(cjose_jwk_t* key) const;
  };
  struct Key {
    std::string kid;
    std::string alg;  // RS256 or ES256, by its type and size
    std::unique_ptr<cjose_jwk_t, Release> key;
  };
  std::vector<Key> keys_;
};

struct ExpectedToken {
  std::string issuer;
  std::string client_id;
  std::string nonce;
  Instant now;
  std::string access_token = {};  // the one sent with it, for at_hash
};

// An Error: the token is not signed with RS256 or ES256, or has a critical extension (crit).
Result<TokenHeader> read_token_header(std::string_view token);

// Returns the claims of a valid token. One thread at a time may use a KeySet.
Result<JsonObject> verify_id_token(std::string_view token, const KeySet& keys,
                                   const ExpectedToken& expected);

// Returns the claims of a valid logout token: who has signed out at the provider. Its nonce and
// access token in `expected` are ignored. One thread at a time may use a KeySet.
Result<JsonObject> verify_logout_token(std::string_view token, const KeySet& keys,
                                       const ExpectedToken& expected);

// The checks that follow the verification of the signature.
Result<void> check_claims(const JsonObject& claims, const ExpectedToken& expected);
Result<void> check_logout_claims(const JsonObject& claims, const ExpectedToken& expected);
// Until when a logout token must not be accepted again. REQUIRES: its claims are checked.
Instant logout_ends_at(const JsonObject& claims);

}  // namespace pennyweight::access::oidc
