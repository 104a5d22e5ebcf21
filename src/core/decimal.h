// Decimal: an exact decimal number without a currency, such as a bill's quantities and unit prices.
//
// It is a 128-bit count of 10^-18, the scale of Money and of DECIMAL(38,18) in every store. It is
// read from text, never from a double, and every multiplication names its rounding.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/int128.h"

namespace pennyweight {

// What happens to digits beyond 10^-18. There is no default.
enum class Rounding { kHalfEven, kDown };

class Decimal {
 public:
  static constexpr int kFractionDigits = 18;
  static constexpr std::int64_t kTicksPerUnit = 1'000'000'000'000'000'000;
  // The largest magnitude that fits DECIMAL(38,18): twenty digits left of the point.
  static constexpr Int128 kTicksMax =
      Int128{kTicksPerUnit} * Int128{10'000'000'000} * Int128{10'000'000'000} - 1;

  constexpr Decimal() = default;  // zero
  static constexpr Decimal from_ticks(Int128 ticks) { return Decimal(ticks); }
  static constexpr Decimal from_units(std::int64_t units) {
    return Decimal(Int128{units} * kTicksPerUnit);
  }
  constexpr Int128 ticks() const { return ticks_; }
  constexpr bool is_negative() const { return ticks_ < 0; }
  constexpr auto operator<=>(const Decimal&) const = default;
  constexpr Decimal operator-() const { return Decimal(-ticks_); }

 private:
  explicit constexpr Decimal(Int128 ticks) : ticks_(ticks) {}
  Int128 ticks_ = 0;
};

// A number read from text. `rounded` says that digits beyond 10^-18 were rounded half-even; the
// caller counts such numbers and reports the count, so that none is changed silently.
struct ParsedDecimal {
  Decimal value;
  bool rounded = false;
};

// The numeric format of FOCUS (attributes/numeric_format.md): an optional '-', digits with an
// optional point, an optional exponent 'E' or 'e'. A '+' sign, thousands separators, currency
// symbols, NaN and infinity are errors, as is a value of more than twenty integer digits.
Result<ParsedDecimal> parse_decimal(std::string_view text);

// As parse_decimal(), but digits beyond 10^-18 are an error: for configuration and price files.
Result<Decimal> parse_exact_decimal(std::string_view text);

// Plain digits, no exponent, no trailing zeros: "0.0123", "-12", "0".
std::string to_text(Decimal value);

// a * b; an error when the result leaves the range of DECIMAL(38,18).
Result<Decimal> multiply(Decimal a, Decimal b, Rounding rounding);

}  // namespace pennyweight
