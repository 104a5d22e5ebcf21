// 128-bit text and the 256-bit product, against slow and obvious versions of themselves.
#include "core/int128.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

#include "core/check.h"

namespace pennyweight {
namespace {

constexpr UInt128 kUInt128Max = ~UInt128{0};
constexpr Int128 kInt128Min = -kInt128Max - 1;

UInt128 from_halves(std::uint64_t high, std::uint64_t low) { return UInt128{high} << 64 | low; }

// a * b mod divisor by doubling: one bit of b at a time, never past 2^128. REQUIRES: divisor <
// 2^127.
UInt128 slow_remainder(UInt128 a, UInt128 b, UInt128 divisor) {
  UInt128 result = 0;
  a %= divisor;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) result = (result + a) % divisor;
    a = (a + a) % divisor;
  }
  return result;
}

TEST(Int128, PrintsAndReads) {
  struct Case {
    Int128 value;
    const char* text;
  };
  for (const auto& c : {
           Case{0, "0"},
           Case{-1, "-1"},
           Case{10, "10"},
           Case{kInt128Max, "170141183460469231731687303715884105727"},
           Case{kInt128Min, "-170141183460469231731687303715884105728"},
       }) {
    EXPECT_EQ(to_text(c.value), c.text);
    ASSERT_TRUE(parse_int128(c.text).has_value()) << c.text;
    EXPECT_TRUE(*parse_int128(c.text) == c.value) << c.text;
  }
  EXPECT_EQ(to_text(kUInt128Max), "340282366920938463463374607431768211455");
}

TEST(Int128, RefusesWhatIsNoInteger) {
  for (const char* text :
       {"", "-", "--1", "+1", "1 ", " 1", "1.0", "1e3", "a",
        "170141183460469231731687303715884105728", "-170141183460469231731687303715884105729"}) {
    EXPECT_FALSE(parse_int128(text).has_value()) << text;
  }
}

TEST(MultiplyDivide, KnowsItsCorners) {
  const auto check = [](UInt128 a, UInt128 b, UInt128 divisor, UInt128 quotient, UInt128 rest) {
    const auto got = multiply_divide(a, b, divisor);
    EXPECT_TRUE(got.quotient == quotient && got.remainder == rest)
        << to_text(a) << " * " << to_text(b) << " / " << to_text(divisor) << " = "
        << to_text(got.quotient) << " rest " << to_text(got.remainder);
  };
  check(0, kUInt128Max, 1, 0, 0);
  check(kUInt128Max, 1, 1, kUInt128Max, 0);
  check(kUInt128Max, kUInt128Max, kUInt128Max, kUInt128Max, 0);
  check(kUInt128Max, kUInt128Max - 1, kUInt128Max, kUInt128Max - 1, 0);
  check(kUInt128Max - 1, kUInt128Max - 1, kUInt128Max, kUInt128Max - 2, 1);
  check(UInt128{1} << 127, 2, kUInt128Max, 1, 1);
  check(UInt128{1} << 127, 6, 4, UInt128{3} << 126, 0);
  EXPECT_THROW((void)multiply_divide(1, 1, 0), InvariantError);
  EXPECT_THROW((void)multiply_divide(kUInt128Max, 2, 1), InvariantError);
  EXPECT_THROW((void)multiply_divide(UInt128{1} << 127, 4, 2), InvariantError);
}

RC_GTEST_PROP(MultiplyDivideProperty, AgreesWithTheSlowWay,
              (std::uint64_t a_high, std::uint64_t a_low, std::uint64_t b_high, std::uint64_t b_low,
               std::uint64_t d_high, std::uint64_t d_low)) {
  const UInt128 a = from_halves(a_high >> 1, a_low);
  const UInt128 divisor = from_halves(d_high >> 1, d_low);
  const UInt128 b = divisor == 0 ? 0 : from_halves(b_high, b_low) % divisor;
  RC_PRE(divisor > 0);
  // b < divisor, so that the quotient is below a.
  const auto got = multiply_divide(a, b, divisor);
  RC_ASSERT(got.remainder == slow_remainder(a, b, divisor));
  RC_ASSERT(got.remainder < divisor);
  RC_ASSERT(got.quotient <= a);
  // quotient * divisor + remainder == a * b in the low 128 bits. Given the right remainder and a
  // quotient below 2^127, this determines the quotient if the divisor is odd.
  RC_ASSERT(got.quotient * divisor + got.remainder == a * b);
}

RC_GTEST_PROP(MultiplyDivideProperty, UndoesAProduct, (std::uint64_t high, std::uint64_t low)) {
  const UInt128 a = from_halves(high, low);
  const UInt128 b = UInt128{*rc::gen::nonZero<std::uint64_t>()} << *rc::gen::inRange(0, 64);
  const auto got = multiply_divide(a, b, b);
  RC_ASSERT(got.quotient == a);
  RC_ASSERT(got.remainder == UInt128{0});
}

RC_GTEST_PROP(Int128Property, TextReadsBack, (std::uint64_t high, std::uint64_t low)) {
  const auto value = static_cast<Int128>(from_halves(high, low));
  RC_ASSERT(parse_int128(to_text(value)) == value);
}

}  // namespace
}  // namespace pennyweight
