#include "core/crypto/signature.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "core/check.h"
#include "core/crypto/openssl_owners.h"

namespace pennyweight {
namespace {

constexpr std::size_t kSignatureBytes = 64;

using openssl::bytes_of;

// Asks nobody for a passphrase.
int no_passphrase(char*, int, int, void*) { return -1; }

template <class Read>
openssl::Key read_pem(std::string_view pem, const Read& read) {
  const std::unique_ptr<BIO, openssl::FreeWith<BIO_free>> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  openssl::Key key(bio ? read(bio.get(), nullptr, no_passphrase, nullptr) : nullptr);
  ERR_clear_error();
  if (key && EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) key.reset();
  return key;
}

}  // namespace

Result<std::string> sign(std::string_view bytes, std::string_view private_pem) {
  const openssl::Key key = read_pem(private_pem, PEM_read_bio_PrivateKey);
  if (!key) {
    return fail(ErrorCode::kBadFile,
                "it is not an Ed25519 private key without a passphrase, as 'openssl genpkey "
                "-algorithm ed25519' makes it");
  }
  const openssl::Digest context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  CHECK(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
            EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                           bytes_of(bytes), bytes.size()) == 1 &&
            size == kSignatureBytes,
        "OpenSSL signs with the algorithms that it is built with");
  return signature;
}

Result<bool> is_signed(std::string_view bytes, std::string_view signature,
                       std::string_view public_pem) {
  const openssl::Key key = read_pem(public_pem, PEM_read_bio_PUBKEY);
  if (!key) {
    return fail(ErrorCode::kBadFile,
                "it is not an Ed25519 public key, as 'openssl pkey -pubout' writes it");
  }
  const openssl::Digest context(EVP_MD_CTX_new());
  const bool is_right =
      context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(bytes),
                       bytes.size()) == 1;
  ERR_clear_error();
  return is_right;
}

}  // namespace pennyweight
