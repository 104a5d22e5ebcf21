// The Theta method (Assimakopoulos and Nikolopoulos 2000): the mean of a straight line and of a
// smoothed series, and the dynamic form of Fiorucci and others (2016), whose line follows the data.
#pragma once

#include <span>
#include <vector>

namespace pennyweight::forecasting {

struct ThetaParams {
  double alpha = 0.5;
  double theta = 2;
  double first_level = 0;
  bool is_dynamic = false;
};

struct ThetaForecast {
  std::vector<double> fitted;  // of each value of the history, from those before it
  std::vector<double> path;
};

// REQUIRES: at least two values; alpha in (0, 1].
ThetaForecast theta_forecast(std::span<const double> history, const ThetaParams& params,
                             int horizon);
// Standard Theta with half of the first value as first level, and the alpha of the smallest error.
std::vector<double> best_theta(std::span<const double> history, int horizon);

}  // namespace pennyweight::forecasting
