// Secrets: random bytes, digests, and what is kept sealed on disk. All of it is OpenSSL's.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

// Of the operating system's generator, by way of OpenSSL.
Result<std::string> random_bytes(std::size_t count);

std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);
std::string hmac_sha1(std::string_view key, std::string_view bytes);

// Takes as long wherever two of the same length differ.
bool same_bytes(std::string_view a, std::string_view b);
// Overwrites a secret that is no longer needed, also where the compiler sees no reason to.
void wipe(std::string& secret);

std::string base64url(std::string_view bytes);  // RFC 4648, section 5, without padding
std::string base32(std::string_view bytes);     // RFC 4648, section 6, without padding
std::string hexadecimal(std::string_view bytes);

// 256 bits in a file of its own, with which others are sealed: AES-256-GCM, a nonce each.
class SealingKey {
 public:
  // The key of that file, which only its owner can read. Made where there is none.
  static Result<SealingKey> open(const std::string& path);

  SealingKey(SealingKey&&) noexcept = default;
  SealingKey& operator=(SealingKey&&) noexcept = default;
  ~SealingKey();

  // `about` is what the secret is about: sealed for one, it can't be opened for another.
  Result<std::string> seal(std::string_view secret, std::string_view about) const;
  // An Error where it was sealed with another key, for another, or was altered.
  Result<std::string> unseal(std::string_view sealed, std::string_view about) const;
  // A key for another purpose.
  std::string derive(std::string_view purpose) const { return hmac_sha256(key_, purpose); }
  // Writes it to a file that is not there yet, or that already holds it.
  Result<void> copy_to(const std::string& path) const;

 private:
  explicit SealingKey(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace pennyweight::access
