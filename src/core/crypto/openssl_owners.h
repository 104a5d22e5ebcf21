// Owners of OpenSSL's objects, for the sources that call it.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

namespace pennyweight::openssl {

// Frees what it is told to with one of OpenSSL's functions.
template <auto kFree>
struct FreeWith {
  template <class Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace pennyweight::openssl
