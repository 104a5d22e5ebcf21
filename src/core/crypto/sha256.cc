#include "core/crypto/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/check.h"

namespace pennyweight {
namespace {

constexpr const char* kWhy = "OpenSSL has the digests that it is built with";

unsigned char* writable_bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

std::string digest_buffer(const EVP_MD* algorithm) {
  return std::string(static_cast<std::size_t>(EVP_MD_get_size(algorithm)), '\0');
}

std::string hmac(const EVP_MD* algorithm, std::string_view key, std::string_view bytes) {
  std::string digest = digest_buffer(algorithm);
  unsigned int size = 0;
  CHECK(HMAC(algorithm, key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
             writable_bytes(digest), &size) != nullptr &&
            size == digest.size(),
        kWhy);
  return digest;
}

}  // namespace

std::string sha256(std::string_view bytes) { return Sha256().add(bytes).digest(); }

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  CHECK(
      state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1,
      kWhy);
}
Sha256::~Sha256() = default;

Sha256& Sha256::add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, kWhy);
  return *this;
}

std::string Sha256::digest() {
  std::string digest = digest_buffer(EVP_sha256());
  CHECK(EVP_DigestFinal_ex(state_->context, writable_bytes(digest), nullptr) == 1, kWhy);
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  return hmac(EVP_sha256(), key, bytes);
}
std::string hmac_sha1(std::string_view key, std::string_view bytes) {
  return hmac(EVP_sha1(), key, bytes);
}

}  // namespace pennyweight
