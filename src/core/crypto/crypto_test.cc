#include <gtest/gtest.h>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"

namespace pennyweight {
namespace {

constexpr std::string_view kAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Crypto, Sha256IsThatOfFips180) {
  EXPECT_EQ(to_hex(sha256("abc")), kAbc);
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Crypto, Sha256OfPiecesIsThatOfTheWhole) {
  EXPECT_EQ(to_hex(Sha256().add("a").add("").add("bc").digest()), kAbc);
}

TEST(Crypto, HmacIsThatOfRfc2202AndRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha1("Jefe", "what do ya want for nothing?")),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
}

TEST(Crypto, RandomBytesDiffer) {
  const auto one = random_bytes(32);
  const auto other = random_bytes(32);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_FALSE(is_same_secret(*one, *other));
}

TEST(Crypto, SecretsAreTheSameOnlyWithEveryByte) {
  EXPECT_TRUE(is_same_secret("", ""));
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "abcd"));
}

TEST(Crypto, AWipedSecretIsGone) {
  std::string secret = "a secret too long for the string itself to hold";
  const std::string_view bytes(secret.data(), secret.size());
  wipe(secret);
  EXPECT_TRUE(secret.empty());
  EXPECT_EQ(bytes[1], '\0');
}

}  // namespace
}  // namespace pennyweight
