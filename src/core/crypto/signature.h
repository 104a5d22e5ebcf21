// Ed25519 signatures (RFC 8032) with keys in PEM files, as `openssl genpkey -algorithm ed25519`
// makes them; `openssl pkeyutl -verify -rawin` checks them as well.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// The signature of `bytes`: 64 bytes. An Error: `private_pem` is not an Ed25519 private key, or has
// a passphrase.
Result<std::string> sign(std::string_view bytes, std::string_view private_pem);

// Whether the holder of the private key has signed `bytes`. An Error: `public_pem` is not an
// Ed25519 public key.
Result<bool> is_signed(std::string_view bytes, std::string_view signature,
                       std::string_view public_pem);

}  // namespace pennyweight
