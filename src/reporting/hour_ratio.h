// Hours that no whole number of GpuTime's units is, such as GiB-hours or a mean: a Ratio in a
// column of hours, shown as GPU-hours are.
#pragma once

#include <string>

#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {

// With four digits, rounded half to even. REQUIRES: neither part is negative, and the whole is not
// zero.
std::string format_hours(const Ratio& hours, Thousands thousands);

// As an integer or a reduced fraction.
std::string exact_hours(const Ratio& hours);

}  // namespace pennyweight
