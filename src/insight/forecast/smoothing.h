// Exponential smoothing: a level, a trend and a season, each corrected by the last error.
//
// Sources: Hyndman and Athanasopoulos, Forecasting: Principles and Practice, chapter 8; the initial
// state is the mean of the first season and the slope to the second.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pennyweight::forecasting {

enum class Seasonality { kAdditive, kMultiplicative };

struct SmoothingParams {
  double alpha = 0.3;  // of the level, 0 to 1
  double beta = 0;     // of the trend; 0 with `phi` 0: no trend
  double gamma = 0;    // of the season
  double phi = 1;      // damping of the trend: 1 none, 0 no trend at all
  int season = 1;      // steps; 1: none
  Seasonality seasonality = Seasonality::kAdditive;
};

struct SmoothingState {
  double level = 0;
  double trend = 0;
  std::vector<double> seasons;  // of the steps by `position`; empty: none
  std::size_t position = 0;     // of the next step
};

class Smoothing {
 public:
  // REQUIRES: at least one value; at least two seasons where params.season > 1; no value of 0 or
  // below where the season multiplies.
  Smoothing(const SmoothingParams& params, std::span<const double> history);

  // Reads the next value.
  void update(double value);
  std::vector<double> forecast(int horizon) const;
  const SmoothingState& state() const { return state_; }
  // The sum of the squared errors of the forecasts of one step.
  double squared_error() const { return squared_error_; }
  // How many values of the history the initial state takes.
  std::size_t warm_up() const { return warm_up_; }

 private:
  SmoothingParams params_;
  SmoothingState state_;
  double squared_error_ = 0;
  std::size_t warm_up_ = 1;
};

// The state after the warm-up only, so that a caller can look at each step.
Smoothing begin_smoothing(const SmoothingParams& params, std::span<const double> history);

}  // namespace pennyweight::forecasting
