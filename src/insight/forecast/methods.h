// The methods that are tried on a series, and what each would have forecast from earlier days.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace pennyweight::forecasting {

enum class Method {
  kSeasonalNaive,
  kLastValue,
  kDrift,
  kSeasonalMedian,
  kSmoothing,    // exponential smoothing, damped trend, one season
  kHoltWinters,  // the season multiplies
  kTheta,        // on the series without its seasons
  kDecomposition,
  kAutoregression,
  kCroston,
  kTsb,
  kCombination,  // the mean of the best three
};

std::string_view method_name(Method method);  // as people read it: "seasonal naive"

// Forecasts of one method: paths[i] are the steps after the first origins[i] values.
struct Trial {
  Method method = Method::kSeasonalNaive;
  std::vector<std::vector<double>> paths;
};

// All methods that the series has enough values for, from every origin; the seasonal naive one is
// the first. Each path knows only the values before its origin.
// REQUIRES: origins ascend, the first is at least 1, the last at most values.size().
std::vector<Trial> try_methods(std::span<const double> values, std::span<const int> seasons,
                               std::span<const std::size_t> origins, int horizon);

}  // namespace pennyweight::forecasting
