#include "core/crypto/signature.h"

#include <gtest/gtest.h>

#include "core/base_encoding.h"

namespace pennyweight {
namespace {

// Made by `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`; the signature of "abc\n"
// by `openssl pkeyutl -sign -rawin`.
constexpr std::string_view kPrivate = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIB7Rysse62WdNNI5KxAICu75ji+UhanwnULZp02uoFGd
-----END PRIVATE KEY-----
)";
constexpr std::string_view kPublic = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAE9p+bYve9q46L1ZdIgqhtAPk1NthXz9G8uyJXvhsbr0=
-----END PUBLIC KEY-----
)";
constexpr std::string_view kSignature =
    "ed7160ed2580b1aa51367b972a2c1928cc4b3cd3fc1f5e5fd3e9fd5f8d990ec01d4b1deeafd195df5d04400b4485b3"
    "3f3cf0d2403188ecdb5826c8a5672baa0a";

TEST(Signature, IsThatOfOpenssl) {
  const auto made = sign("abc\n", kPrivate);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(to_hex(*made), kSignature);
  EXPECT_TRUE(is_signed("abc\n", *made, kPublic).value());
}

TEST(Signature, OfOtherBytesOrCutShortIsRefused) {
  const auto made = sign("abc\n", kPrivate);
  ASSERT_TRUE(made);
  EXPECT_FALSE(is_signed("abd\n", *made, kPublic).value());
  EXPECT_FALSE(is_signed("abc\n", made->substr(1), kPublic).value());
  EXPECT_FALSE(is_signed("abc\n", "", kPublic).value());
  std::string other = *made;
  other[0] = static_cast<char>(other[0] ^ 1);
  EXPECT_FALSE(is_signed("abc\n", other, kPublic).value());
}

TEST(Signature, KeysAreOfTheirKind) {
  for (const std::string_view bad : {std::string_view(""), std::string_view("x"), kPublic}) {
    EXPECT_FALSE(sign("abc", bad));
  }
  EXPECT_FALSE(is_signed("abc", "x", kPrivate));
  EXPECT_FALSE(is_signed("abc", "x", ""));
}

}  // namespace
}  // namespace pennyweight
