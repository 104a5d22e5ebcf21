// Converts decimal numbers to whole counts of a smaller unit: "1.5" GiB to bytes, "115.294" W to
// mW.
//
// Sources write quantities with a decimal point; facts hold integers. No double is involved.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight {

// value * units, rounded half-even to a whole count: for measurements, which are never exact. An
// Error when it is negative or more than 2^64 - 1.
Result<std::uint64_t> nearest_count(Decimal value, std::uint64_t units);

// The same, but an Error when the result is not whole: for capacities and requests.
Result<std::uint64_t> exact_count(Decimal value, std::uint64_t units);

// Reads a number from 0 to `max` written with digits only: no sign, point, exponent or blank.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t max);

}  // namespace pennyweight
