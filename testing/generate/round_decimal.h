// Rounding a decimal to fewer digits, for the prices and amounts that a bill prints.
#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/decimal.h"

namespace pennyweight {

// Rounds half-even to `digits` digits after the point.
// REQUIRES: 0 <= digits <= 18.
constexpr Decimal round_half_even(Decimal value, int digits) {
  CHECK(digits >= 0 && digits <= Decimal::kFractionDigits, "a decimal has 18 digits");
  Int128 unit = 1;
  for (int i = digits; i < Decimal::kFractionDigits; ++i) unit *= 10;
  Int128 quotient = value.ticks() / unit;
  const Int128 rest = value.ticks() % unit;
  const Int128 twice = (rest < 0 ? -rest : rest) * 2;
  if (twice > unit || (twice == unit && quotient % 2 != 0)) quotient += rest < 0 ? -1 : 1;
  return Decimal::from_ticks(quotient * unit);
}

// value * parts / 1000, rounded half-even to `digits` digits.
// REQUIRES: parts <= 1'000'000, and
// value
// is below 10^14.
constexpr Decimal per_mille_of(Decimal value, std::uint32_t parts, int digits) {
  CHECK(parts <= 1'000'000, "a share in thousandths");
  Int128 unit = 1000;
  for (int i = digits; i < Decimal::kFractionDigits; ++i) unit *= 10;
  const Int128 product = value.ticks() * parts;
  Int128 quotient = product / unit;
  const Int128 rest = product % unit;
  const Int128 twice = (rest < 0 ? -rest : rest) * 2;
  if (twice > unit || (twice == unit && quotient % 2 != 0)) quotient += rest < 0 ? -1 : 1;
  return Decimal::from_ticks(quotient * (unit / 1000));
}

}  // namespace pennyweight
