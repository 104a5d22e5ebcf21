// SHA-256 of bytes, by OpenSSL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pennyweight {

// The digest as 32 bytes; to_hex() of core/base_encoding.h shows it.
std::string sha256(std::string_view bytes);

// The digest of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& add(std::string_view bytes);
  std::string digest();  // 32 bytes; call it once, after the last add()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// HMAC (RFC 2104) with SHA-256 or, where a standard demands it, SHA-1.
std::string hmac_sha256(std::string_view key, std::string_view bytes);
std::string hmac_sha1(std::string_view key, std::string_view bytes);

}  // namespace pennyweight
