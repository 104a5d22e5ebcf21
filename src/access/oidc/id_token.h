// ID tokens: signed claims of a provider (OpenID Connect Core 1.0, section 3.1.3.7), and the keys
// with which it signs (RFC 7517).
#pragma once

#include <cjose/jwk.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/oidc/json_object.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::access::oidc {

inline constexpr std::size_t kTokenBytesMax = 64u << 10;
inline constexpr std::chrono::seconds kClockSkew{60};

// What a token says of its signature. It is only what somebody claims.
struct TokenHeader {
  std::string alg;
  std::string kid;  // empty: none
};

class KeySet {
 public:
  static constexpr std::size_t kKeysMax = 100;

  KeySet() = default;
  // Keys that are no use to us (encryption, other curves, too short, secret) are left out.
  static Result<KeySet> read(std::string_view json);

  // The one key that the token may be signed with; nothing where there is none, or no way to tell.
  const cjose_jwk_t* find(const TokenHeader& header) const;
  std::size_t size() const { return keys_.size(); }

 private:
  struct Release {
    void operator()(cjose_jwk_t* key) const;
  };
  struct Key {
    std::string kid;
    std::string alg;  // RS256, ES256: what its kind and size can
    std::unique_ptr<cjose_jwk_t, Release> key;
  };
  std::vector<Key> keys_;
};

struct Expected {
  std::string issuer;
  std::string client_id;
  std::string nonce;
  Instant now;
  std::string access_token = {};  // that came with it, for at_hash
};

// An Error where it is no token of RS256 or ES256, or asks for something that must be understood
// (crit).
Result<TokenHeader> read_token_header(std::string_view token);

// The claims, where all is as it must be. One thread at a time for a KeySet.
Result<JsonObject> verify_id_token(std::string_view token, const KeySet& keys,
                                   const Expected& expected);

// The part of it that comes after the signature was verified.
Result<void> check_claims(const JsonObject& claims, const Expected& expected);

}  // namespace pennyweight::access::oidc
