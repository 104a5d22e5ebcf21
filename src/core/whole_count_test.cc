#include "core/whole_count.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

Decimal decimal(std::string_view text) { return parse_exact_decimal(text).value(); }

TEST(WholeCount, NearestRoundsHalfEven) {
  struct Case {
    std::string_view value;
    std::uint64_t units;
    std::uint64_t want;
  };
  constexpr Case kCases[] = {{"115.294000", 1000, 115294},  {"0.999892", 1'000'000, 999892},
                             {"0.0005", 1000, 0},           {"0.0015", 1000, 2},
                             {"0.00051", 1000, 1},          {"0", 7, 0},
                             {"4384", 1u << 20, 4596957184}};
  for (const Case& c : kCases) {
    EXPECT_EQ(nearest_count(decimal(c.value), c.units), c.want) << c.value;
  }
}

TEST(WholeCount, ExactRefusesAFraction) {
  EXPECT_EQ(exact_count(decimal("1.5"), 1024), 1536u);
  EXPECT_FALSE(exact_count(decimal("0.0001"), 1024));
}

TEST(WholeCount, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(nearest_count(decimal("-1"), 1));
  EXPECT_FALSE(exact_count(decimal("-0.1"), 10));
  EXPECT_FALSE(nearest_count(decimal("18446744073709551616"), 1));
  EXPECT_FALSE(exact_count(decimal("99999999999999999999"), 1'000'000'000));
}

TEST(WholeCount, ParsesDigitsAlone) {
  EXPECT_EQ(parse_count("0", 9), 0u);
  EXPECT_EQ(parse_count("18446744073709551615", ~std::uint64_t{0}), ~std::uint64_t{0});
  for (const char* text : {"", "-1", "+1", "1.0", "1e3", " 1", "10", "18446744073709551616"}) {
    EXPECT_FALSE(parse_count(text, 9)) << text;
  }
  // The quoted text is made printable.
  EXPECT_EQ(parse_count("1\xFF", 9).error().message, "'1\xEF\xBF\xBD' is not a whole number");
}

}  // namespace
}  // namespace pennyweight
