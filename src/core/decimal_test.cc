// Decimal: what FOCUS calls a number is read to the last digit; everything else is refused.
#include "core/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace pennyweight {
namespace {

Decimal exact(std::string_view text) { return parse_exact_decimal(text).value(); }

TEST(Decimal, ReadsTheNumericFormatOfFocus) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const auto& c : {
           // The examples of attributes/numeric_format.md.
           Case{"-100.2", "-100.2"},
           Case{"-3", "-3"},
           Case{"4", "4"},
           Case{"35.2E-7", "0.00000352"},
           Case{"1.234", "1.234"},
           // Zeros, decimal points and exponents as programs print them.
           Case{"0", "0"},
           Case{"-0", "0"},
           Case{"0.000", "0"},
           Case{"-0.0E-300", "0"},
           Case{"0e999999999999", "0"},
           Case{"007", "7"},
           Case{".5", "0.5"},
           Case{"5.", "5"},
           Case{"-.25", "-0.25"},
           Case{"1e3", "1000"},
           Case{"1.5E3", "1500"},
           Case{"12345E-2", "123.45"},
           Case{"1E19", "10000000000000000000"},
           Case{"0.000000000000000000000000000001E30", "1"},
           // The last digit that is kept, and the largest value.
           Case{"0.000000000000000001", "0.000000000000000001"},
           Case{"1E-18", "0.000000000000000001"},
           Case{"99999999999999999999.999999999999999999",
                "99999999999999999999.999999999999999999"},
           Case{"-99999999999999999999.999999999999999999",
                "-99999999999999999999.999999999999999999"},
       }) {
    const auto parsed = parse_decimal(c.text);
    ASSERT_TRUE(parsed.has_value()) << c.text;
    EXPECT_EQ(to_text(parsed->value), c.want) << c.text;
    EXPECT_FALSE(parsed->rounded) << c.text;
  }
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const std::string text : {
           // The counter-examples of attributes/numeric_format.md.
           "1 1/2",
           "[3,5,8]",
           "[4:5]",
           "5i + 4",
           "sqrt(2)",
           "2.3^3",
           "32 GiB",
           "$32",
           "3,432,342",
           "+333",
           "35.2E+7",
           // Nothing, or only part of a number.
           "",
           " ",
           "-",
           ".",
           "-.",
           "e5",
           "-e5",
           "1e",
           "1E-",
           "1e5.0",
           "1e--5",
           "1.2.3",
           "--1",
           // Number formats of other programs.
           " 1",
           "1 ",
           "1\n",
           "1_000",
           "0x10",
           "1,5",
           "NaN",
           "nan",
           "inf",
           "-Infinity",
           "NULL",
           "null",
           "None",
           "1f",
           "1d",
           "(1.00)",
           "1-",
           "12%",
           "\xE2\x82\xAC"
           "5",
           "\xFF",
           "\xD9\xA1",  // an Arabic digit one
           // Out of range: twenty-one digits before the point.
           "100000000000000000000",
           "-1E20",
           "1e999",
           "1E99999999999999999999",
           "99999999999999999999.9999999999999999995",
       }) {
    EXPECT_FALSE(parse_decimal(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_decimal(std::string("1\0", 2)).has_value());
  EXPECT_FALSE(parse_decimal(std::string(129, '1')).has_value());
  EXPECT_TRUE(parse_decimal(std::string(128, '0')).has_value());
}

TEST(Decimal, SaysWhichTextWasRefusedInWellFormedText) {
  EXPECT_EQ(parse_decimal("$32").error().message, "'$32' is not a decimal number: no digits");
  EXPECT_EQ(parse_decimal("0x10").error().message,
            "'0x10' is not a decimal number: unexpected 'x'");
  EXPECT_EQ(parse_decimal("5\xE2\x82\xAC 20").error().message,
            "'5\xE2\x82\xAC 20' is not a decimal number: unexpected '\xE2\x82\xAC'");
  EXPECT_EQ(parse_decimal("3\xFF").error().message,
            "'3\xEF\xBF\xBD' is not a decimal number: unexpected '\xEF\xBF\xBD'");
}

TEST(Decimal, RoundsHalfEvenAtTheEighteenthDigit) {
  struct Case {
    const char* text;
    Int128 want_ticks;
  };
  for (const auto& c : {
           Case{"0.0000000000000000005", 0},  // half, to even
           Case{"0.0000000000000000015", 2},  // half, to even
           Case{"0.0000000000000000025", 2},  //
           Case{"-0.0000000000000000015", -2},
           Case{"-0.0000000000000000025", -2},
           Case{"0.00000000000000000050000000001", 1},  // over half
           Case{"0.00000000000000000149999999999", 1},  // under half
           Case{"5E-19", 0},
           Case{"15E-19", 2},
           Case{"51E-20", 1},
           Case{"9E-20", 0},
           Case{"99E-300", 0},
           Case{"-1E-400", 0},
           Case{"0.9999999999999999995", 1'000'000'000'000'000'000},
       }) {
    const auto parsed = parse_decimal(c.text);
    ASSERT_TRUE(parsed.has_value()) << c.text;
    EXPECT_TRUE(parsed->value.ticks() == c.want_ticks) << c.text << " " << to_text(parsed->value);
    EXPECT_TRUE(parsed->rounded) << c.text;
    EXPECT_FALSE(parse_exact_decimal(c.text).has_value()) << c.text;
  }
  // Zeros beyond the eighteenth digit are not rounding.
  EXPECT_EQ(exact("1.2500000000000000000000"), exact("1.25"));
  EXPECT_FALSE(parse_decimal("0E-400")->rounded);
}

TEST(Decimal, MultipliesWithANamedRounding) {
  struct Case {
    const char* a;
    const char* b;
    const char* half_even;
    const char* down;
  };
  for (const auto& c : {
           Case{"1.5", "2", "3", "3"},
           Case{"-1.5", "2", "-3", "-3"},
           Case{"-1.5", "-2", "3", "3"},
           Case{"0", "-7", "0", "0"},
           Case{"0.000000000000000001", "0.5", "0", "0"},
           Case{"0.000000000000000003", "0.5", "0.000000000000000002", "0.000000000000000001"},
           Case{"-0.000000000000000003", "0.5", "-0.000000000000000002", "-0.000000000000000001"},
           Case{"0.000000000000000001", "0.6", "0.000000000000000001", "0"},
           // 730 hours of a p5.48xlarge.
           Case{"98.32", "730", "71773.6", "71773.6"},
           Case{"10000000000", "9999999999.999999999999999999", "99999999999999999999.99999999",
                "99999999999999999999.99999999"},
       }) {
    EXPECT_EQ(to_text(*multiply(exact(c.a), exact(c.b), Rounding::kHalfEven)), c.half_even) << c.a;
    EXPECT_EQ(to_text(*multiply(exact(c.a), exact(c.b), Rounding::kDown)), c.down) << c.a;
    EXPECT_EQ(to_text(*multiply(exact(c.b), exact(c.a), Rounding::kDown)), c.down) << c.a;
  }
  const Decimal most = Decimal::from_ticks(Decimal::kTicksMax);
  EXPECT_EQ(*multiply(most, exact("1"), Rounding::kHalfEven), most);
  EXPECT_FALSE(multiply(most, exact("1.000000000000000001"), Rounding::kDown).has_value());
  EXPECT_FALSE(multiply(most, -most, Rounding::kDown).has_value());
  EXPECT_FALSE(multiply(exact("1E10"), exact("1E10"), Rounding::kHalfEven).has_value());
}

RC_GTEST_PROP(DecimalProperty, TextReadsBackAsTheSameValue, (std::int64_t high, std::int64_t low)) {
  const Int128 ticks = (Int128{high} * Int128{1'000'000'000'000'000'000} + low);
  RC_PRE(ticks <= Decimal::kTicksMax && ticks >= -Decimal::kTicksMax);
  const Decimal value = Decimal::from_ticks(ticks);
  RC_ASSERT(exact(to_text(value)) == value);
}

RC_GTEST_PROP(DecimalProperty, AnExponentMovesThePoint, (std::int32_t digits)) {
  const int exponent = *rc::gen::inRange(0, 11);
  const auto text = std::to_string(digits);
  const Decimal scaled = exact(text + "E" + std::to_string(exponent));
  RC_ASSERT(exact(to_text(scaled) + "E-" + std::to_string(exponent)) == exact(text));
}

RC_GTEST_PROP(DecimalProperty, AnyTextIsReadOrRefused, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("00123459..--eE+ ")));
  const auto parsed = parse_decimal(text);
  if (parsed) RC_ASSERT(exact(to_text(parsed->value)) == parsed->value);
}

}  // namespace
}  // namespace pennyweight
