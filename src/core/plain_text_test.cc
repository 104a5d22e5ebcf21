#include "core/plain_text.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using namespace std::string_view_literals;

TEST(PlainText, WellFormedTextStaysAsItIs) {
  for (const auto text : {""sv, "a"sv, "\xC3\xA9"sv, "\xE2\x82\xAC"sv, "\xF0\x9F\x98\x80"sv}) {
    EXPECT_TRUE(is_plain_text(text)) << text;
    EXPECT_EQ(printable_text(text, 100), text);
  }
}

TEST(PlainText, OtherBytesAreReplaced) {
  struct Case {
    std::string_view input;
    std::string_view want;
  };
  constexpr Case kCases[] = {
      {"a\0b"sv,
       "a\xEF\xBF\xBD"
       "b"sv},                                                       // NUL
      {"\xFF"sv, "\xEF\xBF\xBD"sv},                                  // never a lead byte
      {"\xC0\xAF"sv, "\xEF\xBF\xBD\xEF\xBF\xBD"sv},                  // overlong
      {"\xC3"sv, "\xEF\xBF\xBD"sv},                                  // cut off
      {"\xC3(", "\xEF\xBF\xBD("sv},                                  // the byte after it is kept
      {"\xED\xA0\x80"sv, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"sv},  // a surrogate
  };
  for (const Case& c : kCases) {
    EXPECT_FALSE(is_plain_text(c.input));
    EXPECT_EQ(printable_text(c.input, 100), c.want);
  }
}

TEST(PlainText, CutsBetweenCharacters) {
  EXPECT_EQ(printable_text("\xE2\x82\xAC\xE2\x82\xAC", 5), "\xE2\x82\xAC");
  EXPECT_EQ(printable_text("\xFF", 2), "");
}

}  // namespace
}  // namespace pennyweight
