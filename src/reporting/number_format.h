// Formats numbers for people. This is the last step before display: everything before it is exact.
//
// Rounding is half to even, on integers, and happens only here. Rounded figures are never summed:
// a total is rounded from its exact sum (reporting/table.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/decimal.h"
#include "core/quantity.h"

namespace pennyweight {

enum class Thousands { kPlain, kSeparated };  // 1234567 or 1,234,567

// `value` with exactly `digits` digits after the point, rounded half to even. A result of zero has
// no sign. REQUIRES: 0 <= digits <= 18.
std::string format_rounded(Decimal value, int digits, Thousands thousands);

std::string format_count(std::uint64_t count, Thousands thousands);
// The count, with thousands separators, and the noun in the right number: "1 job", "2,000 jobs",
// "3 entries". Without a plural, it is the noun with an s.
std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {});

// GPU-hours with `digits` digits. REQUIRES: 0 <= digits <= 18.
std::string format_gpu_hours(GpuTime time, int digits, Thousands thousands);

// GPU-hours exactly, as an integer or a reduced fraction: "174470", "34894127/200".
std::string exact_gpu_hours(GpuTime time);

// part/whole in percent with `digits` digits, "24.4"; empty when the whole is zero.
// REQUIRES: 0 <= digits <= 6.
std::optional<std::string> format_percent(Int128 part, Int128 whole, int digits);

}  // namespace pennyweight
