// Forecasts a series with the method that would have served best, and says how far off it may be.
//
// Every method forecasts from earlier days, of which the outcome is known (rolling origin). The one
// with the smallest error is used; where it is not 5 % better than repeating the last season, that
// is used instead. The errors of the earlier forecasts give the ranges (conformal prediction), so
// these suppose nothing about a distribution.
//
// Pure: the same values give the same forecast. Floating point stays inside this module.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "insight/forecast/methods.h"

namespace pennyweight::forecasting {

struct SeriesRequest {
  std::span<const double> values;  // equal steps, oldest first, complete
  std::vector<int> seasons = {7};  // steps, ascending: {7} for days, {24, 168} for hours
  int horizon = 30;                // steps ahead, 1 or more
};

struct MethodScore {
  Method method = Method::kSeasonalNaive;
  std::optional<double> mase;  // nothing: the series repeats itself exactly, or is too short
};

// How many of the earlier outcomes a range of this share would have held.
struct RangeCheck {
  int percent = 80;     // 50, 80 or 95
  double measured = 0;  // 0 to 1
  bool is_shown = false;
};

struct Range {
  double low = 0;
  double high = 0;
};

struct SeriesForecast {
  Method method = Method::kSeasonalNaive;
  std::vector<double> path;
  std::vector<MethodScore> scores;  // of every method, best first
  std::vector<RangeCheck> checks;   // 50, 80, 95
  std::vector<std::string> notes;   // what is unusual about the series, in sentences

  // Empty where too little is known, or where the check of this share has failed.
  std::optional<Range> range(std::size_t step, int percent) const;
  // Of the sum of the steps from 0 up to `steps`, such as the rest of a month.
  std::optional<Range> sum_range(std::size_t steps, int percent) const;
  // The probability, 0 to 1, that the sum of the first `steps` is above `amount`.
  std::optional<double> probability_above(std::size_t steps, double amount) const;

  // The same around another path, such as one that was changed by what a person knows.
  std::optional<Range> range(std::span<const double> around, std::size_t step, int percent) const;
  std::optional<Range> sum_range(std::span<const double> around, std::size_t steps,
                                 int percent) const;
  std::optional<double> probability_above(std::span<const double> around, std::size_t steps,
                                          double amount) const;

  // The errors behind the ranges: outcome - forecast, by origin and step. Shorter rows where the
  // outcome is not known yet.
  std::vector<std::vector<double>> errors;
  std::vector<double> spread;    // by step: the typical size of an error
  std::vector<double> relative;  // sorted: |error| by the spread of its step
  bool is_nonnegative = false;   // no value was below 0, so no range is
};

// Error: no values (kBadValue), a value that is no number, a horizon below 1.
Result<SeriesForecast> forecast_series(const SeriesRequest& request);

}  // namespace pennyweight::forecasting
