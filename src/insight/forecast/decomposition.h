// Splits a series into seasons and the rest, after MSTL (Bandara, Hyndman and Bergmeir 2021), with
// weighted means where MSTL has local regressions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pennyweight::forecasting {

struct Decomposition {
  std::vector<std::vector<double>> patterns;  // of each season, by (t mod season); adds up to 0
  std::vector<int> seasons;                   // those of the request of which there are two or more
  std::vector<double> rest;                   // the series without its seasons: trend and remainder

  // What the seasons add at step t, counted from the beginning of the history.
  double seasonal(std::size_t t) const;
};

// `recency` is the weight of a season against the one after it, 0 to 1.
Decomposition decompose(std::span<const double> history, std::span<const int> seasons,
                        double recency);

// The rest goes on as a smoothed level.
std::vector<double> decomposed_smoothing(const Decomposition& parts, int horizon);
// The rest returns to its mean, by as much a step as it did before (an autoregression).
std::vector<double> decomposed_autoregression(const Decomposition& parts, int horizon);

}  // namespace pennyweight::forecasting
