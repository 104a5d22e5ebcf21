#include "core/base_encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

using namespace std::string_view_literals;

TEST(BaseEncoding, TheVectorsOfRfc4648) {
  struct Vector {
    std::string_view bytes;
    std::string_view base64;
    std::string_view base32;  // without padding
    std::string_view hex;
  };
  constexpr Vector kVectors[] = {
      {"", "", "", ""},
      {"f", "Zg==", "MY", "66"},
      {"fo", "Zm8=", "MZXQ", "666f"},
      {"foo", "Zm9v", "MZXW6", "666f6f"},
      {"foob", "Zm9vYg==", "MZXW6YQ", "666f6f62"},
      {"fooba", "Zm9vYmE=", "MZXW6YTB", "666f6f6261"},
      {"foobar", "Zm9vYmFy", "MZXW6YTBOI", "666f6f626172"},
  };
  for (const Vector& vector : kVectors) {
    EXPECT_EQ(to_base64(vector.bytes), vector.base64);
    EXPECT_EQ(to_base32(vector.bytes), vector.base32);
    EXPECT_EQ(to_hex(vector.bytes), vector.hex);
    std::string unpadded(vector.base64);
    while (unpadded.ends_with('=')) unpadded.pop_back();
    EXPECT_EQ(to_base64url(vector.bytes), unpadded);
    EXPECT_EQ(from_base64url(unpadded), vector.bytes);
  }
  EXPECT_EQ(to_hex("\0\x1f\xff"sv), "001fff");
}

TEST(BaseEncoding, Base64urlHasItsOwnTwoLetters) {
  EXPECT_EQ(to_base64("\xFB\xFF"), "+/8=");
  EXPECT_EQ(to_base64url("\xFB\xFF"), "-_8");
  EXPECT_EQ(from_base64url("-_8"), "\xFB\xFF");
}

TEST(BaseEncoding, OneTextForEachValue) {
  for (const auto text : {"Zg==", "Z", "Zh", "Zm9", "+/8", "Zm 9v", "Zm9v\n", "ZgA=A"}) {
    EXPECT_EQ(from_base64url(text), std::nullopt) << text;
  }
}

TEST(BaseEncoding, HexDigits) {
  EXPECT_EQ(hex_value('0'), 0U);
  EXPECT_EQ(hex_value('9'), 9U);
  EXPECT_EQ(hex_value('a'), 10U);
  EXPECT_EQ(hex_value('F'), 15U);
  for (const char c : {'g', 'G', '/', ':', '@', '`', '\0', '\xff'}) {
    EXPECT_EQ(hex_value(c), std::nullopt);
  }
}

}  // namespace
}  // namespace pennyweight
