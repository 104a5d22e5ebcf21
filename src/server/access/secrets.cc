#include "server/access/secrets.h"

#include <openssl/evp.h>

#include <memory>

#include "core/check.h"
#include "core/crypto/secret.h"
#include "core/try.h"
#include "server/access/private_file.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* cipher) const { EVP_CIPHER_CTX_free(cipher); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

}  // namespace

Result<SealingKey> SealingKey::open(const std::string& path) {
  auto read = read_private_file(path, kKeyBytes);
  if (!read) return std::unexpected(read.error());
  if (!*read) {
    auto made = TRY(random_bytes(kKeyBytes));
    // False: another process created one first, and its key counts.
    const auto created = create_private_file(path, made);
    wipe(made);
    if (!created) return std::unexpected(created.error());
    read = read_private_file(path, kKeyBytes);
    if (!read) return std::unexpected(read.error());
  }
  if (!*read || (*read)->size() != kKeyBytes) {
    return fail(ErrorCode::kBadFile, path + " is not a key: it does not have 32 bytes");
  }
  return SealingKey(**std::move(read));
}

SealingKey::~SealingKey() { wipe(key_); }

Result<std::string> SealingKey::seal(std::string_view secret, std::string_view about) const {
  auto sealed = random_bytes(kNonceBytes);
  if (!sealed) return std::unexpected(sealed.error());
  sealed->resize(kNonceBytes + secret.size() + kTagBytes);
  unsigned char* const out = bytes_of(*sealed);
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  CHECK(
      cipher != nullptr &&
          EVP_EncryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), bytes_of(key_), out, nullptr) == 1 &&
          EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(about),
                            static_cast<int>(about.size())) == 1 &&
          EVP_EncryptUpdate(cipher.get(), out + kNonceBytes, &size, bytes_of(secret),
                            static_cast<int>(secret.size())) == 1 &&
          EVP_EncryptFinal_ex(cipher.get(), out + kNonceBytes + size, &size) == 1 &&
          EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes,
                              out + kNonceBytes + secret.size()) == 1,
      "encryption in memory succeeds");
  return sealed;
}

Result<std::string> SealingKey::unseal(std::string_view sealed, std::string_view about) const {
  const auto refused = [] {
    return fail(ErrorCode::kBadFile, "it was encrypted with another key, or altered");
  };
  if (sealed.size() < kNonceBytes + kTagBytes) return refused();
  const std::size_t length = sealed.size() - kNonceBytes - kTagBytes;
  std::string tag(sealed.substr(kNonceBytes + length));
  std::string secret(length, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool opened =
      cipher != nullptr &&
      EVP_DecryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), bytes_of(key_), bytes_of(sealed),
                          nullptr) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(about),
                        static_cast<int>(about.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(secret), &size, bytes_of(sealed.substr(kNonceBytes)),
                        static_cast<int>(length)) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), bytes_of(secret) + size, &size) == 1;
  if (!opened) {
    wipe(secret);
    return refused();
  }
  return secret;
}

Result<void> SealingKey::copy_to(const std::string& path) const {
  const auto created = TRY(create_private_file(path, key_));
  if (created) return {};
  const auto there = read_private_file(path, kKeyBytes);
  if (!there) return std::unexpected(there.error());
  if (*there && is_same_secret(**there, key_)) return {};
  return fail(ErrorCode::kConflict, path + " exists already and holds another key");
}

}  // namespace pennyweight::access
