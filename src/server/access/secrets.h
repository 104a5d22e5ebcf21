// Random bytes, digests, and encryption of secrets stored on disk, all by OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "core/crypto/sha256.h"
#include "core/error.h"

namespace pennyweight::access {

// A key of 256 bits in a file of its own, which encrypts other secrets: AES-256-GCM with a new
// nonce each time.
class SealingKey {
 public:
  // Reads the key from its file, which only its owner can read; creates it if there is none.
  static Result<SealingKey> open(const std::string& path);

  SealingKey(SealingKey&&) noexcept = default;
  SealingKey& operator=(SealingKey&&) noexcept = default;
  ~SealingKey();

  // `about` binds the secret to its purpose: it can be unsealed only with the same text.
  Result<std::string> seal(std::string_view secret, std::string_view about) const;
  // An Error: sealed with another key or for another purpose, or altered.
  Result<std::string> unseal(std::string_view sealed, std::string_view about) const;
  // A key for another purpose.
  std::string derive(std::string_view purpose) const { return hmac_sha256(key_, purpose); }
  // Writes the key to a new file, or accepts a file that already holds it.
  Result<void> copy_to(const std::string& path) const;

 private:
  explicit SealingKey(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace pennyweight::access
