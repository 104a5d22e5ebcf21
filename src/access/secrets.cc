#include "access/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <memory>

#include "access/private_file.h"
#include "core/check.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string hmac(const EVP_MD* digest, std::string_view key, std::string_view bytes) {
  std::string out(static_cast<std::size_t>(EVP_MD_get_size(digest)), '\0');
  unsigned int size = 0;
  CHECK(HMAC(digest, key.data(), static_cast<int>(key.size()), bytes_of(bytes), bytes.size(),
             bytes_of(out), &size) != nullptr &&
            size == out.size(),
        "OpenSSL has the digests that it is built with");
  return out;
}

// Takes `bits` bits a character from the front; what is left at the end is filled with zeros.
std::string in_alphabet(std::string_view bytes, std::string_view alphabet, unsigned bits) {
  std::string out;
  out.reserve((bytes.size() * 8 + bits - 1) / bits);
  unsigned buffer = 0;
  unsigned held = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8 | static_cast<unsigned char>(byte)) & 0xffffU;
    held += 8;
    while (held >= bits) {
      held -= bits;
      out += alphabet[(buffer >> held) & ((1U << bits) - 1)];
    }
  }
  if (held > 0) out += alphabet[(buffer << (bits - held)) & ((1U << bits) - 1)];
  return out;
}

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* cipher) const { EVP_CIPHER_CTX_free(cipher); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

}  // namespace

Result<std::string> random_bytes(std::size_t count) {
  std::string out(count, '\0');
  if (RAND_bytes(bytes_of(out), static_cast<int>(count)) != 1) {
    return fail(ErrorCode::kIo, "the operating system gives no random bytes");
  }
  return out;
}

std::string sha256(std::string_view bytes) {
  std::string out(static_cast<std::size_t>(EVP_MD_get_size(EVP_sha256())), '\0');
  CHECK(EVP_Digest(bytes.data(), bytes.size(), bytes_of(out), nullptr, EVP_sha256(), nullptr) == 1,
        "OpenSSL has the digests that it is built with");
  return out;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  return hmac(EVP_sha256(), key, bytes);
}
std::string hmac_sha1(std::string_view key, std::string_view bytes) {
  return hmac(EVP_sha1(), key, bytes);
}

bool same_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

std::string base64url(std::string_view bytes) {
  return in_alphabet(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6);
}
std::string base32(std::string_view bytes) {
  return in_alphabet(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5);
}
std::string hexadecimal(std::string_view bytes) {
  return in_alphabet(bytes, "0123456789abcdef", 4);
}

Result<SealingKey> SealingKey::open(const std::string& path) {
  auto read = read_private_file(path, kKeyBytes);
  if (!read) return std::unexpected(read.error());
  if (!*read) {
    auto made = random_bytes(kKeyBytes);
    if (!made) return std::unexpected(made.error());
    // False: another process was quicker, and its key is the one that counts.
    const auto created = create_private_file(path, *made);
    wipe(*made);
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
      "encrypting needs nothing of the world");
  return sealed;
}

Result<std::string> SealingKey::unseal(std::string_view sealed, std::string_view about) const {
  const auto refused = [] {
    return fail(ErrorCode::kBadFile, "it was sealed with another key, or was altered");
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
  const auto created = create_private_file(path, key_);
  if (!created) return std::unexpected(created.error());
  if (*created) return {};
  const auto there = read_private_file(path, kKeyBytes);
  if (!there) return std::unexpected(there.error());
  if (*there && same_bytes(**there, key_)) return {};
  return fail(ErrorCode::kConflict, path + " is there already, and is another key");
}

}  // namespace pennyweight::access
