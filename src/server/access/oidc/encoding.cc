#include "server/access/oidc/encoding.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/check.h"
#include "core/percent.h"

namespace pennyweight::access::oidc {

bool is_base64url(std::string_view text) {
  return !text.empty() && text.size() % 4 != 1 && std::ranges::all_of(text, [](char c) {
    return ascii::is_letter_or_digit(c) || c == '-' || c == '_';
  });
}

std::string random_text() {
  std::array<unsigned char, 32> bytes;
  CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "there is randomness");
  return to_base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string form_encoded(std::string_view text) { return percent_encoded(text, "-._*"); }

std::string basic_authorization(std::string_view id, std::string_view secret) {
  return "Basic " + to_base64(form_encoded(id) + ":" + form_encoded(secret));
}

}  // namespace pennyweight::access::oidc
