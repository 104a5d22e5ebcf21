#include "core/int128.h"

#include <algorithm>
#include <cstdint>

#include "core/check.h"

namespace pennyweight {
namespace {

struct UInt256 {
  UInt128 high;
  UInt128 low;
};

UInt256 multiply(UInt128 a, UInt128 b) {
  constexpr UInt128 kLow64 = ~std::uint64_t{0};
  const UInt128 a_low = a & kLow64, a_high = a >> 64;
  const UInt128 b_low = b & kLow64, b_high = b >> 64;
  const UInt128 low = a_low * b_low;
  const UInt128 middle_1 = a_high * b_low;
  const UInt128 middle_2 = a_low * b_high;
  // Three numbers below 2^64 each: the sum of the middle column can't overflow.
  const UInt128 middle = (low >> 64) + (middle_1 & kLow64) + (middle_2 & kLow64);
  return {.high = a_high * b_high + (middle_1 >> 64) + (middle_2 >> 64) + (middle >> 64),
          .low = (middle << 64) | (low & kLow64)};
}

// Long division by shift and subtract: 128 steps, only for products past 2^128, which are rare.
QuotientAndRemainder divide(UInt256 value, UInt128 divisor) {
  CHECK(value.high < divisor, "the quotient must fit in 128 bits");
  UInt128 remainder = value.high;
  UInt128 quotient = 0;
  for (int bit = 127; bit >= 0; --bit) {
    const bool carry = (remainder >> 127) != 0;
    remainder = (remainder << 1) | ((value.low >> bit) & 1);
    if (carry || remainder >= divisor) {
      remainder -= divisor;
      quotient |= UInt128{1} << bit;
    }
  }
  return {.quotient = quotient, .remainder = remainder};
}

}  // namespace

std::string to_text(UInt128 value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string to_text(Int128 value) {
  if (value >= 0) return to_text(static_cast<UInt128>(value));
  // Negating the unsigned image is defined even for the most negative value.
  return "-" + to_text(-static_cast<UInt128>(value));
}

std::optional<Int128> parse_int128(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  // Away from zero with the sign: the most negative value has no positive image.
  Int128 value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const Int128 digit = negative ? '0' - c : c - '0';
    if (__builtin_mul_overflow(value, Int128{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, digit, &value)) return std::nullopt;
  }
  return value;
}

QuotientAndRemainder multiply_divide(UInt128 a, UInt128 b, UInt128 divisor) {
  CHECK(divisor > 0, "nothing can be divided by zero");
  UInt128 product{};
  if (!__builtin_mul_overflow(a, b, &product)) {
    return {.quotient = product / divisor, .remainder = product % divisor};
  }
  return divide(multiply(a, b), divisor);
}

}  // namespace pennyweight
