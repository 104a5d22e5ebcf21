// 128-bit integers: their text, and the 256-bit products that exact division needs.
//
// Every amount of money, every weight and every sum of them is one of these integers. No function
// here rounds unless its name or an argument says how.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

inline constexpr Int128 kInt128Max = static_cast<Int128>(~UInt128{0} >> 1);

// Decimal digits, with a leading '-' where negative.
std::string to_text(Int128 value);
std::string to_text(UInt128 value);

// Reads an optional '-' and digits; nothing for any other text, and for a number that does not fit.
std::optional<Int128> parse_int128(std::string_view text);

struct QuotientAndRemainder {
  UInt128 quotient;
  UInt128 remainder;
};

// a * b / divisor over a 256-bit product.
// REQUIRES: divisor > 0, and the quotient fits in 128 bits.
QuotientAndRemainder multiply_divide(UInt128 a, UInt128 b, UInt128 divisor);

}  // namespace pennyweight
