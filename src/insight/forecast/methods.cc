#include "insight/forecast/methods.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "insight/forecast/baselines.h"
#include "insight/forecast/decomposition.h"
#include "insight/forecast/intermittent.h"
#include "insight/forecast/smoothing.h"
#include "insight/forecast/theta.h"

namespace pennyweight::forecasting {
namespace {

using History = std::span<const double>;

constexpr int kMedianSeasons = 4;
constexpr double kRecency = 0.85;  // the weight of a season against the one after it

template <class Forecast>
Trial trial_of(Method method, History values, std::span<const std::size_t> origins,
               Forecast forecast) {
  Trial trial{method, {}};
  trial.paths.reserve(origins.size());
  for (const std::size_t origin : origins) {
    trial.paths.push_back(forecast(values.first(origin)));
  }
  return trial;
}

// One pass over the series for each set of parameters: at an origin the state knows only what came
// before it.
Trial smoothing_trial(Method method, const SmoothingParams& params, History values,
                      std::span<const std::size_t> origins, int horizon) {
  Trial trial{method, {}};
  trial.paths.reserve(origins.size());
  Smoothing smoothing = begin_smoothing(params, values);
  const std::size_t begin = params.season > 1 ? 2 * static_cast<std::size_t>(params.season) : 1;
  auto origin = origins.begin();
  for (std::size_t t = begin; origin != origins.end(); ++t) {
    for (; origin != origins.end() && *origin <= t; ++origin) {
      trial.paths.push_back(smoothing.forecast(horizon));
    }
    if (t < values.size()) smoothing.update(values[t]);
  }
  return trial;
}

double absolute_error(const Trial& trial, History values, std::span<const std::size_t> origins) {
  double sum = 0;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::size_t known = std::min(trial.paths[i].size(), values.size() - origins[i]);
    for (std::size_t h = 0; h < known; ++h) {
      const double error = values[origins[i] + h] - trial.paths[i][h];
      sum += error < 0 ? -error : error;
    }
  }
  return sum;
}

// The parameters with the smallest error over the origins.
Trial best_smoothing(Method method, std::span<const SmoothingParams> choices, History values,
                     std::span<const std::size_t> origins, int horizon) {
  std::optional<Trial> best;
  double best_error = 0;
  for (const SmoothingParams& params : choices) {
    Trial trial = smoothing_trial(method, params, values, origins, horizon);
    const double error = absolute_error(trial, values, origins);
    if (best && error >= best_error) continue;
    best = std::move(trial);
    best_error = error;
  }
  return *std::move(best);
}

std::vector<SmoothingParams> smoothing_choices(int season, Seasonality seasonality) {
  std::vector<SmoothingParams> choices;
  for (const double alpha : {0.05, 0.2, 0.5, 0.8}) {
    for (const double gamma : {0.05, 0.2}) {
      choices.push_back({.alpha = alpha,
                         .beta = 0,
                         .gamma = gamma,
                         .phi = 0,
                         .season = season,
                         .seasonality = seasonality});
      choices.push_back({.alpha = alpha,
                         .beta = 0.05,
                         .gamma = gamma,
                         .phi = 0.97,
                         .season = season,
                         .seasonality = seasonality});
      if (season == 1) break;
    }
  }
  return choices;
}

std::vector<double> seasonal_theta(const Decomposition& parts, int horizon) {
  std::vector<double> path = best_theta(parts.rest, horizon);
  for (std::size_t h = 0; h < path.size(); ++h) path[h] += parts.seasonal(parts.rest.size() + h);
  return path;
}

// The methods that first take the seasons out.
void try_decomposed(History values, std::span<const int> seasons,
                    std::span<const std::size_t> origins, int horizon, std::vector<Trial>& trials) {
  Trial theta{Method::kTheta, {}};
  Trial smoothing{Method::kDecomposition, {}};
  Trial autoregression{Method::kAutoregression, {}};
  for (const std::size_t origin : origins) {
    const Decomposition parts = decompose(values.first(origin), seasons, kRecency);
    theta.paths.push_back(seasonal_theta(parts, horizon));
    smoothing.paths.push_back(decomposed_smoothing(parts, horizon));
    autoregression.paths.push_back(decomposed_autoregression(parts, horizon));
  }
  trials.push_back(std::move(theta));
  trials.push_back(std::move(smoothing));
  trials.push_back(std::move(autoregression));
}

}  // namespace

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kSeasonalNaive:
      return "seasonal naive";
    case Method::kLastValue:
      return "last value";
    case Method::kDrift:
      return "drift";
    case Method::kSeasonalMedian:
      return "seasonal median";
    case Method::kSmoothing:
      return "exponential smoothing";
    case Method::kHoltWinters:
      return "Holt-Winters, multiplicative";
    case Method::kTheta:
      return "Theta";
    case Method::kDecomposition:
      return "seasonal decomposition";
    case Method::kAutoregression:
      return "seasonal decomposition, autoregression";
    case Method::kCroston:
      return "Croston";
    case Method::kTsb:
      return "TSB";
    case Method::kCombination:
      return "combination";
  }
  return "";
}

std::vector<Trial> try_methods(std::span<const double> values, std::span<const int> seasons,
                               std::span<const std::size_t> origins, int horizon) {
  const int season = seasons.empty() ? 1 : seasons.front();
  const int longest = seasons.empty() ? 1 : seasons.back();
  const std::size_t first = origins.front();
  // Every origin has as many values as the method needs.
  const bool has_two = first >= 2 * static_cast<std::size_t>(season);
  const int known_season = first >= static_cast<std::size_t>(longest) ? longest : season;
  std::vector<Trial> trials;
  const auto attempt = [&](Method method, const auto& forecast) {
    trials.push_back(trial_of(method, values, origins, forecast));
  };
  attempt(Method::kSeasonalNaive,
          [&](History past) { return seasonal_naive(past, known_season, horizon); });
  attempt(Method::kLastValue, [&](History past) { return seasonal_naive(past, 1, horizon); });
  attempt(Method::kDrift, [&](History past) { return drift(past, horizon); });
  if (is_intermittent(values.first(first)) || is_intermittent(values)) {
    const auto flat = [&](double rate) {
      return std::vector<double>(static_cast<std::size_t>(horizon), rate);
    };
    attempt(Method::kCroston, [&](History past) { return flat(croston(past, 0.1)); });
    attempt(Method::kTsb, [&](History past) { return flat(tsb(past, 0.1, 0.1)); });
  }
  if (has_two) {
    attempt(Method::kSeasonalMedian, [&](History past) {
      return seasonal_median(past, known_season, kMedianSeasons, horizon);
    });
  }
  const auto additive = smoothing_choices(has_two ? season : 1, Seasonality::kAdditive);
  trials.push_back(best_smoothing(Method::kSmoothing, additive, values, origins, horizon));
  const bool is_positive = std::ranges::all_of(values, [](double value) { return value > 0; });
  if (has_two && season > 1 && is_positive) {
    const auto choices = smoothing_choices(season, Seasonality::kMultiplicative);
    trials.push_back(best_smoothing(Method::kHoltWinters, choices, values, origins, horizon));
  }
  if (first >= 4) try_decomposed(values, seasons, origins, horizon, trials);
  return trials;
}

}  // namespace pennyweight::forecasting
