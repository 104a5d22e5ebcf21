// The forecasts that are always available, and that every other method must beat.
#pragma once

#include <span>
#include <vector>

namespace pennyweight::forecasting {

// The last whole season again. A history shorter than a season repeats its last value.
// REQUIRES: the history is not empty.
std::vector<double> seasonal_naive(std::span<const double> history, int season, int horizon);
// The line through the first and the last value.
std::vector<double> drift(std::span<const double> history, int horizon);
// The median of the same step of each of the last `seasons` seasons, such as of the last 4 Mondays.
std::vector<double> seasonal_median(std::span<const double> history, int season, int seasons,
                                    int horizon);
// REQUIRES: not empty.
double median(std::vector<double> values);

}  // namespace pennyweight::forecasting
