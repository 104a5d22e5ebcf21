// Measures of forecast error, as the M4 competition and FinOps practice define them.
//
// Floating point is allowed in insight/forecast: a forecast is an estimate and never a booked
// amount. What people see is rounded to Money by forecast_costs().
#pragma once

#include <optional>
#include <span>

namespace pennyweight::forecasting {

// REQUIRES, for all: `actual` and `forecast` are of the same length, which is not 0.
double mean_absolute_error(std::span<const double> actual, std::span<const double> forecast);
// Mean of forecast - actual: above 0 where the forecast was too high.
double bias(std::span<const double> actual, std::span<const double> forecast);
// The sum of the absolute errors by that of the actual values; nothing where the latter is 0.
std::optional<double> wape(std::span<const double> actual, std::span<const double> forecast);
// In percent, 0 to 200 (M4). Two zeros are no error.
double smape(std::span<const double> actual, std::span<const double> forecast);
// The loss of a forecast of the quantile `q` (0 to 1).
double pinball(std::span<const double> actual, std::span<const double> forecast, double q);

// What an always available forecast is off by inside `history`: the mean of |y(t) - y(t - season)|.
// Nothing where it is 0 or the history is too short: MASE is then undefined, never infinite.
std::optional<double> seasonal_scale(std::span<const double> history, int season);
// The mean absolute error by the scale of `history`.
std::optional<double> mase(std::span<const double> actual, std::span<const double> forecast,
                           std::span<const double> history, int season);

}  // namespace pennyweight::forecasting
