#include "insight/forecast/smoothing.h"

#include <numeric>

#include "core/check.h"

namespace pennyweight::forecasting {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Smoothing begin_smoothing(const SmoothingParams& params, std::span<const double> history) {
  const std::size_t season = params.season > 1 ? static_cast<std::size_t>(params.season) : 1;
  // With as many values as the warm-up takes, nothing is left to read.
  return {params, history.first(season > 1 ? 2 * season : 1)};
}

Smoothing::Smoothing(const SmoothingParams& params, std::span<const double> history)
    : params_(params) {
  CHECK(!history.empty(), "smoothing starts from a value");
  if (params.season > 1) {
    const auto season = static_cast<std::size_t>(params.season);
    CHECK(history.size() >= 2 * season, "the first slope is that between two seasons");
    warm_up_ = season;
    state_.level = mean_of(history.first(season));
    state_.trend = params.phi == 0 ? 0
                                   : (mean_of(history.subspan(season, season)) - state_.level) /
                                         static_cast<double>(season);
    for (const double value : history.first(season)) {
      state_.seasons.push_back(params.seasonality == Seasonality::kAdditive ? value - state_.level
                                                                            : value / state_.level);
    }
  } else {
    state_.level = history.front();
  }
  for (const double value : history.subspan(warm_up_)) update(value);
}

void Smoothing::update(double value) {
  const bool is_seasonal = !state_.seasons.empty();
  const bool multiplies = params_.seasonality == Seasonality::kMultiplicative;
  const double base = state_.level + params_.phi * state_.trend;
  double* season = is_seasonal ? &state_.seasons[state_.position] : nullptr;
  const double expected = season == nullptr ? base : multiplies ? base * *season : base + *season;
  const double error = value - expected;
  squared_error_ += error * error;
  const double adjusted = season == nullptr ? value
                          : multiplies      ? value / *season
                                            : value - *season;
  const double level = params_.alpha * adjusted + (1 - params_.alpha) * base;
  state_.trend =
      params_.beta * (level - state_.level) + (1 - params_.beta) * params_.phi * state_.trend;
  if (season != nullptr) {
    const double seen = multiplies ? value / level : value - level;
    *season = params_.gamma * seen + (1 - params_.gamma) * *season;
    state_.position = (state_.position + 1) % state_.seasons.size();
  }
  state_.level = level;
}

std::vector<double> Smoothing::forecast(int horizon) const {
  std::vector<double> path(static_cast<std::size_t>(horizon));
  double trend = 0;
  double damping = 1;
  for (std::size_t h = 0; h < path.size(); ++h) {
    damping *= params_.phi;
    trend += damping * state_.trend;
    path[h] = state_.level + trend;
    if (state_.seasons.empty()) continue;
    const double season = state_.seasons[(state_.position + h) % state_.seasons.size()];
    path[h] =
        params_.seasonality == Seasonality::kMultiplicative ? path[h] * season : path[h] + season;
  }
  return path;
}

}  // namespace pennyweight::forecasting
