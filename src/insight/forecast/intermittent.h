// Forecasts of series that are 0 on most days: how much when there is demand, and how often.
#pragma once

#include <span>

namespace pennyweight::forecasting {

// Croston 1972: the smoothed amount by the smoothed interval. One rate for every step ahead.
// Without any demand it is 0.
double croston(std::span<const double> history, double alpha);
// Teunter, Syntetos and Babai 2011: the amount times the smoothed probability of demand, which
// falls while there is none.
double tsb(std::span<const double> history, double alpha, double beta);
// Whether most values are 0, and some are not.
bool is_intermittent(std::span<const double> history);

}  // namespace pennyweight::forecasting
