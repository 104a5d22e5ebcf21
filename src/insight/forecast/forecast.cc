#include "insight/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "insight/forecast/baselines.h"
#include "insight/forecast/level_shift.h"
#include "insight/forecast/metrics.h"
#include "insight/forecast/ranges.h"

namespace pennyweight::forecasting {
namespace {

constexpr double kBetterThanBaseline = 0.95;
constexpr std::size_t kOriginsMax = 40;
constexpr std::size_t kCombined = 3;

// Where earlier forecasts begin. The last one is the end of the series, whose outcome is unknown.
std::vector<std::size_t> choose_origins(std::size_t values, int season, int horizon) {
  const auto steps = static_cast<std::size_t>(season);
  std::size_t first = std::min(2 * steps, std::max<std::size_t>(values / 2, 1));
  // A long series: older origins say little about today.
  if (values > 6 * steps) first = std::max(first, values / 3);
  const auto ahead = static_cast<std::size_t>(horizon);
  // The first origins see the whole horizon, if any can.
  if (values > ahead + first) first = std::max<std::size_t>(first, 1);
  std::vector<std::size_t> origins;
  if (values > first) {
    // Not a divisor of the season, so that origins fall on each of its steps.
    std::size_t stride = (values - first + kOriginsMax - 1) / kOriginsMax;
    if (stride > 1 && steps > 1 && steps % stride == 0) ++stride;
    if (stride > 1 && steps > 1 && stride % steps == 0) ++stride;
    for (std::size_t origin = first; origin < values; origin += stride) origins.push_back(origin);
  }
  origins.push_back(values);
  return origins;
}

struct TrialScore {
  std::size_t trial = 0;
  double error = 0;  // mean absolute, over all known outcomes
};

double mean_error(const Trial& trial, std::span<const double> values,
                  std::span<const std::size_t> origins) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::size_t known = std::min(trial.paths[i].size(), values.size() - origins[i]);
    for (std::size_t h = 0; h < known; ++h)
      sum += std::abs(values[origins[i] + h] - trial.paths[i][h]);
    count += known;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

Trial combine(const std::vector<Trial>& trials, std::span<const TrialScore> best) {
  Trial mean{Method::kCombination, trials[best.front().trial].paths};
  for (std::size_t i = 1; i < best.size(); ++i) {
    const auto& paths = trials[best[i].trial].paths;
    for (std::size_t k = 0; k < paths.size(); ++k) {
      for (std::size_t h = 0; h < paths[k].size(); ++h) mean.paths[k][h] += paths[k][h];
    }
  }
  for (auto& path : mean.paths) {
    for (double& value : path) value /= static_cast<double>(best.size());
  }
  return mean;
}

std::vector<TrialScore> rank(const std::vector<Trial>& trials, std::span<const double> values,
                             std::span<const std::size_t> origins) {
  std::vector<TrialScore> scores;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    scores.push_back({i, mean_error(trials[i], values, origins)});
  }
  // Stable: of equal ones the simpler, which was tried first.
  std::ranges::stable_sort(scores, {}, &TrialScore::error);
  return scores;
}

Result<void> check_request(const SeriesRequest& request) {
  if (request.values.empty()) return fail(ErrorCode::kBadValue, "there is no day to forecast from");
  if (request.horizon < 1) return fail(ErrorCode::kBadValue, "a forecast is for 1 step or more");
  for (const double value : request.values) {
    if (!std::isfinite(value)) return fail(ErrorCode::kBadValue, "a value is not a number");
  }
  return {};
}

}  // namespace

Result<SeriesForecast> forecast_series(const SeriesRequest& request) {
  if (auto checked = check_request(request); !checked) return std::unexpected(checked.error());
  SeriesForecast out;
  out.is_nonnegative = std::ranges::all_of(request.values, [](double v) { return v >= 0; });
  const int season = request.seasons.empty() ? 1 : request.seasons.front();
  const LevelShift shift = find_level_shift(request.values, season);
  std::vector<double> levelled;
  std::span<const double> values = request.values;
  if (shift.is_found) {
    levelled = without_shift(request.values, shift);
    values = levelled;
    out.notes.push_back(
        fmt::format("the level changed {} {} ago; what came before counts at the new level",
                    values.size() - shift.at, values.size() - shift.at == 1 ? "step" : "steps"));
  }
  const auto origins = choose_origins(values.size(), season, request.horizon);
  std::vector<Trial> trials = try_methods(values, request.seasons, origins, request.horizon);
  auto ranked = rank(trials, values, origins);
  const double baseline = mean_error(trials.front(), values, origins);
  if (origins.size() > 2 && ranked.size() >= kCombined) {
    trials.push_back(combine(trials, std::span(ranked).first(kCombined)));
    ranked.push_back({trials.size() - 1, mean_error(trials.back(), values, origins)});
    std::ranges::stable_sort(ranked, {}, &TrialScore::error);
  }
  // A mean of several methods errs less on days to come than its error on past ones says, so it is
  // preferred to a single method that was hardly better.
  std::size_t chosen = ranked.front().trial;
  for (const TrialScore& score : ranked) {
    if (trials[score.trial].method == Method::kCombination &&
        score.error <= ranked.front().error * 1.05) {
      chosen = score.trial;
    }
  }
  if (values.size() < 2 * static_cast<std::size_t>(season)) {
    chosen = 0;
    out.notes.push_back(
        fmt::format("{} {} of history, less than two seasons of {}: the last season is repeated",
                    values.size(), values.size() == 1 ? "step" : "steps", season));
  } else if (mean_error(trials[chosen], values, origins) > kBetterThanBaseline * baseline) {
    chosen = 0;
  }
  const auto scale = seasonal_scale(values, trials.front().paths.empty() ? 1 : season);
  for (const TrialScore& score : ranked) {
    out.scores.push_back({trials[score.trial].method, scale && origins.size() > 1
                                                          ? std::optional(score.error / *scale)
                                                          : std::nullopt});
  }
  const Trial& best = trials[chosen];
  out.method = best.method;
  out.path = best.paths.back();
  if (out.is_nonnegative) {
    for (double& value : out.path) value = std::max(value, 0.0);
  }
  for (std::size_t i = 0; i + 1 < origins.size(); ++i) {
    const std::size_t known = std::min(best.paths[i].size(), values.size() - origins[i]);
    auto& row = out.errors.emplace_back();
    for (std::size_t h = 0; h < known; ++h) {
      const double expected =
          out.is_nonnegative ? std::max(best.paths[i][h], 0.0) : best.paths[i][h];
      row.push_back(values[origins[i] + h] - expected);
    }
  }
  measure_ranges(out);
  return out;
}

}  // namespace pennyweight::forecasting
