// Numbers as people read them. The last step before the page: everything before is exact.
//
// Rounding is half to even, on integers, and only here. A rounded figure is never added up again:
// totals are rounded from the true sum (report/table.h), so that what is shown is what is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/decimal.h"
#include "core/quantity.h"

namespace pennyweight {

enum class Thousands { kPlain, kSeparated };  // 1234567 or 1,234,567

// `value` with exactly `digits` digits after the point, rounded half to even. What rounds to zero
// has no sign. REQUIRES: 0 <= digits <= 18.
std::string format_rounded(Decimal value, int digits, Thousands thousands);

std::string format_count(std::uint64_t count, Thousands thousands);

// Hours of one whole GPU, with `digits` digits. REQUIRES: 0 <= digits <= 18.
std::string format_gpu_hours(GpuTime time, int digits, Thousands thousands);

// The same exactly, as an integer or a reduced fraction: "174470", "34894127/200".
std::string exact_gpu_hours(GpuTime time);

// part/whole in percent with `digits` digits, "24.4"; nothing when the whole is zero.
// REQUIRES: 0 <= digits <= 6.
std::optional<std::string> format_percent(Int128 part, Int128 whole, int digits);

}  // namespace pennyweight
