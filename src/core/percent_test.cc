#include "core/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

using namespace std::string_view_literals;

TEST(Percent, KeepsWhatRfc3986CallsUnreserved) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a b/c+d=é\0"sv), "a%20b%2Fc%2Bd%3D%C3%A9%00");
  EXPECT_EQ(percent_encoded("*~", "-._*"), "*%7E");
}

TEST(Percent, DecodesWhatItEncodes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
  EXPECT_EQ(percent_decoded("%c3%A9+"), "é+");
}

TEST(Percent, APercentSignNeedsTwoDigits) {
  for (const auto text : {"%", "%2", "a%2", "%2G", "%G2", "%-1", "% 1"}) {
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace pennyweight
