#include "core/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, ACodePointTakesOneToFourBytes) {
  EXPECT_EQ(code_point_bytes("a"), 1U);
  EXPECT_EQ(code_point_bytes("\0"sv), 1U);
  EXPECT_EQ(code_point_bytes("\xC3\xA9tude"), 2U);
  EXPECT_EQ(code_point_bytes("\xE2\x82\xAC"), 3U);
  EXPECT_EQ(code_point_bytes("\xF0\x9D\x84\x9E"), 4U);
  EXPECT_EQ(code_point_bytes("\xF4\x8F\xBF\xBF"), 4U);  // U+10FFFF, the last
}

TEST(Utf8, IllFormedBytesAreNoCodePoint) {
  for (const auto text : {
           "\x80"sv, "\xFF"sv, "\xC1\xBF"sv,                   // no lead bytes
           "\xC3"sv, "\xE2\x82"sv, "\xF0\x9D\x84"sv,           // cut off
           "\xE0\x9F\xBF"sv, "\xF0\x8F\xBF\xBF"sv,             // overlong
           "\xED\xA0\x80"sv,                                   // a surrogate
           "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv,         // past U+10FFFF
           "\xC3("sv, "\xE2\x28\xA1"sv, "\xF0\x9D\x28\x9E"sv,  // no continuation
       }) {
    EXPECT_EQ(code_point_bytes(text), 0U) << text;
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, AWholeTextIsWellFormedOrNot) {
  EXPECT_TRUE(is_utf8(""));
  for (std::size_t before = 0; before < 70; ++before) {
    const std::string ascii(before, 'x');
    EXPECT_TRUE(is_utf8(ascii));
    EXPECT_TRUE(is_utf8(ascii + "\xE2\x82\xAC" + ascii));
    EXPECT_FALSE(is_utf8(ascii + "\xE2\x82" + ascii)) << before;
    EXPECT_FALSE(is_utf8(ascii + "\xFF")) << before;
  }
}

}  // namespace
}  // namespace pennyweight
