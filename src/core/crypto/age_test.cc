#include "core/crypto/age.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base_encoding.h"
#include "core/check.h"
#include "core/crypto/bech32.h"

namespace pennyweight::age {
namespace {

// Made with age-keygen 1.1.1; the file with `age -r`.
constexpr std::string_view kRecipient =
    "age1m72gsvqvwpfs2kcwhn9zmjqjyl0f8xrd94sen6edusnrxs7s2grsyh2alc";
constexpr std::string_view kIdentity =
    "AGE-SECRET-KEY-17W0HZT0676XNA45F7KH584SWHKXWHF4Y59RL24H6HJUDHVLHYDYSVDRVU5";
constexpr std::string_view kFileOfAge =
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0-"
    "IFgyNTUxOSBmN0piZkh5RmppRDA5bHBHREx3bzlOZXBsdmlMcjhNSGZXd21rK2VwaGlnClFuSVU3R09j"
    "M3JzU3pYUlNCbE04WEw5andrYmV2SW9VZDhDVUlXODRjZGMKLS0tIDlSaWNvSzQ3S2E4WWVHdU5abEVK"
    "STJ2ckJSM3RMc3N0eDJMN3o4SGFQY3cKbA555rAReUYLjXgANSu0VwCN0UyAeitMiUzuvTtRal6qTwVW"
    "wNfefhKcqcznpjY";

std::vector<Identity> identities() {
  auto read = parse_identities("# a comment\n\n" + std::string(kIdentity) + "\n");
  CHECK(read.has_value(), "it is an identity");
  return *std::move(read);
}

std::string encrypt(std::string_view plain, std::size_t piece = 1000) {
  const auto recipient = parse_recipient(kRecipient);
  CHECK(recipient.has_value(), "it is a recipient");
  std::string file;
  auto encryptor = Encryptor::begin({&*recipient, 1}, [&](std::string_view bytes) -> Result<void> {
    file += bytes;
    return {};
  });
  CHECK(encryptor.has_value(), "it begins");
  for (; !plain.empty(); plain.remove_prefix(std::min(piece, plain.size()))) {
    CHECK(encryptor->add(plain.substr(0, piece)).has_value(), "it goes on");
  }
  CHECK(encryptor->finish().has_value(), "it ends");
  return file;
}

// What is in the file, or why it is refused.
std::string decrypt(std::string_view file, std::size_t piece = 777) {
  std::string plain;
  Decryptor decryptor(identities(), [&](std::string_view bytes) -> Result<void> {
    plain += bytes;
    return {};
  });
  for (; !file.empty(); file.remove_prefix(std::min(piece, file.size()))) {
    if (const auto read = decryptor.add(file.substr(0, piece)); !read) {
      return "refused: " + read.error().message;
    }
  }
  const auto read = decryptor.finish();
  return read ? plain : "refused: " + read.error().message;
}

std::string some_text(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += std::to_string(text.size()) + " ";
  text.resize(bytes);
  return text;
}

TEST(Age, ReadsWhatAgeWrites) {
  const auto file = from_base64url(kFileOfAge);
  ASSERT_TRUE(file);
  EXPECT_EQ(decrypt(*file), "written by age\n");
}

TEST(Age, ReadsWhatItWritesOfAnySize) {
  for (const std::size_t bytes : {0u, 1u, 65'535u, 65'536u, 65'537u, 131'072u, 200'000u}) {
    const std::string text = some_text(bytes);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{65'536}, std::size_t{300'000}}) {
      EXPECT_EQ(decrypt(encrypt(text, piece), piece), text) << bytes << " in " << piece;
    }
  }
}

TEST(Age, RefusesEveryChange) {
  const std::string text = some_text(140'000);
  const std::string file = encrypt(text);
  for (std::size_t at = 0; at < file.size(); at += at < 400 ? 1 : 997) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_TRUE(decrypt(changed).starts_with("refused: ")) << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{100}, file.size() - 1,
                                 file.size() - 140'000 % 65'536 - 16}) {
    EXPECT_TRUE(decrypt(file.substr(0, size)).starts_with("refused: ")) << size;
  }
  EXPECT_TRUE(decrypt(file + "x").starts_with("refused: "));
  // Two parts of the payload in each other's place.
  const std::size_t begin = file.size() - 140'000 - 3 * 16;
  const std::string one = file.substr(begin, 65'552), two = file.substr(begin + 65'552, 65'552);
  EXPECT_TRUE(decrypt(file.substr(0, begin) + two + one + file.substr(begin + 2 * 65'552))
                  .starts_with("refused: "));
}

TEST(Age, IsForItsRecipientsAlone) {
  const std::string mine(kRecipient);
  std::string other = std::string(kIdentity);
  const auto read = parse_identities(other);
  ASSERT_TRUE(read);
  std::vector<Identity> stranger = *read;
  stranger.front().key[5] = static_cast<char>(stranger.front().key[5] ^ 8);
  Decryptor decryptor(stranger, [](std::string_view) -> Result<void> { return {}; });
  EXPECT_EQ(decryptor.add(encrypt("x")).error().message,
            "the file is not encrypted for this identity");
  for (const char* bad : {"", "age1", "age1qqqqqqqq", "AGE-SECRET-KEY-1", "ssh-ed25519 AAAA"}) {
    EXPECT_FALSE(parse_recipient(bad)) << bad;
    EXPECT_FALSE(parse_identities(bad)) << bad;
  }
  std::string misspelt = mine;
  misspelt[10] = misspelt[10] == 'q' ? 'p' : 'q';
  EXPECT_FALSE(parse_recipient(misspelt));
  EXPECT_FALSE(parse_recipient(kIdentity));
  EXPECT_FALSE(parse_identities(kRecipient));
}

TEST(Bech32, IsThatOfBip173) {
  for (const char* good : {"A12UEL5L", "a12uel5l", "?1ezyfcl",
                           "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w"}) {
    EXPECT_TRUE(from_bech32(good)) << good;
  }
  for (const char* bad : {"", "1", "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3",
                          "A1G7SGD8", "10a06t8", "1qzzfhee", "a12UEL5L", "a12uel5m"}) {
    EXPECT_FALSE(from_bech32(bad)) << bad;
  }
}

}  // namespace
}  // namespace pennyweight::age
