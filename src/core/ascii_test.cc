#include "core/ascii.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight {
namespace {

TEST(Ascii, EveryByteIsOfTheKindThatTheCLocaleSays) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string_view digits = "0123456789";
    const std::string_view lower = "abcdefghijklmnopqrstuvwxyz";
    const std::string_view upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    EXPECT_EQ(ascii::is_digit(c), digits.contains(c)) << byte;
    EXPECT_EQ(ascii::is_lower(c), lower.contains(c)) << byte;
    EXPECT_EQ(ascii::is_upper(c), upper.contains(c)) << byte;
    EXPECT_EQ(ascii::is_letter(c), lower.contains(c) || upper.contains(c)) << byte;
    EXPECT_EQ(ascii::is_letter_or_digit(c), ascii::is_letter(c) || ascii::is_digit(c)) << byte;
    EXPECT_EQ(ascii::is_blank(c), c == ' ' || c == '\t') << byte;
    EXPECT_EQ(ascii::to_lower(c), upper.contains(c) ? lower[upper.find(c)] : c) << byte;
    EXPECT_EQ(ascii::to_upper(c), lower.contains(c) ? upper[lower.find(c)] : c) << byte;
  }
}

TEST(Ascii, ChangesTheCaseOfLettersAlone) {
  EXPECT_EQ(ascii::lower_case("GPU-Hours [É] 7"), "gpu-hours [É] 7");
  EXPECT_EQ(ascii::upper_case("gpu-Hours {é} 7"), "GPU-HOURS {é} 7");
  EXPECT_EQ(ascii::lower_case(""), "");
}

TEST(Ascii, ComparesWithoutRegardToCase) {
  EXPECT_TRUE(ascii::equal_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_TRUE(ascii::equal_ignoring_case("", ""));
  EXPECT_FALSE(ascii::equal_ignoring_case("a", "ab"));
  EXPECT_FALSE(ascii::equal_ignoring_case("[", "{"));
}

TEST(Ascii, DigitsAlone) {
  EXPECT_TRUE(ascii::is_all_digits("0042"));
  for (const char* text : {"", "4.2", "-4", " 4", "4x"}) EXPECT_FALSE(ascii::is_all_digits(text));
}

TEST(Ascii, TrimsBothEnds) {
  EXPECT_EQ(ascii::trim(" \t a b \t"), "a b");
  EXPECT_EQ(ascii::trim(" \t "), "");
  EXPECT_EQ(ascii::trim(""), "");
  EXPECT_EQ(ascii::trim("\r\na\n"), "\r\na\n");
  EXPECT_EQ(ascii::trim(" \r\na\n", ascii::kWhitespace), "a");
}

}  // namespace
}  // namespace pennyweight
