#include "core/crypto/secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace pennyweight {

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    return fail(ErrorCode::kIo, "the operating system provides no random bytes");
  }
  return bytes;
}

bool is_same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace pennyweight
