// Finds the hour in which the cost of unusual days began to differ.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/money.h"

namespace pennyweight {

// `actual`: what each hour of the day before and of the first unusual day cost; `usual`: what these
// hours cost in other weeks. The hour from which on they differ in the direction of `is_higher`, by
// the largest distance of their sum from an even one (CUSUM). Nothing: there is none, or it is not
// clear: before it they hardly differ, and it differs itself by at least half of what the hours
// after it do. REQUIRES: as many of both, of one currency.
std::optional<std::size_t> find_onset(std::span<const Money> actual, std::span<const Money> usual,
                                      bool is_higher);

}  // namespace pennyweight
