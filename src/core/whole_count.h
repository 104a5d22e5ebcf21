// A decimal number as a whole count of a smaller unit: "1.5" GiB as bytes, "115.294" W as mW.
//
// Sources write quantities with a point; facts keep integers. Nothing passes through a double.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight {

// value * units, rounded half-even to a whole count: for measurements, which are never exact.
// An error when it is negative or more than 2^64 - 1.
Result<std::uint64_t> nearest_count(Decimal value, std::uint64_t units);

// The same, but an error when the result is not whole: for capacities and requests.
Result<std::uint64_t> exact_count(Decimal value, std::uint64_t units);

// Digits alone, at least one, at most `max`: no sign, point, exponent or blank.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t max);

}  // namespace pennyweight
