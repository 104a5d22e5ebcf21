#include "insight/forecast/theta.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "core/check.h"

namespace pennyweight::forecasting {
namespace {

struct ThetaLine {
  double intercept = 0;
  double slope = 0;
};

// Least squares over 1…n.
ThetaLine fit_line(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    weighted += static_cast<double>(i + 1) * values[i];
  }
  const double slope = 6 * (2 * weighted / n - (1 + n) * sum / n) / (n * n - 1);
  return {sum / n - (n + 1) * slope / 2, slope};
}

// The state before value t + 1, after t values.
struct ThetaState {
  double level = 0;
  double mean = 0;
  ThetaLine line = {};
  double power = 1;  // (1 - alpha)^t
  double t = 0;
};

double expected_value(const ThetaState& state, const ThetaParams& params) {
  const double next = state.power * (1 - params.alpha);
  return state.level + (1 - 1 / params.theta) * (state.line.intercept * state.power +
                                                 state.line.slope * (1 - next) / params.alpha);
}

void read_value(ThetaState& state, const ThetaParams& params, double value) {
  const double t = state.t;
  state.level = params.alpha * value + (1 - params.alpha) * state.level;
  if (params.is_dynamic) {
    const double mean_before = state.mean;
    state.mean = (t * state.mean + value) / (t + 1);
    state.line.slope =
        t == 0 ? 0 : ((t - 1) * state.line.slope + 6 * (value - mean_before) / (t + 1)) / (t + 2);
    state.line.intercept = state.mean - state.line.slope * (t + 2) / 2;
  }
  state.power *= 1 - params.alpha;
  state.t = t + 1;
}

}  // namespace

ThetaForecast theta_forecast(std::span<const double> history, const ThetaParams& params,
                             int horizon) {
  CHECK(history.size() >= 2 && params.alpha > 0, "Theta needs two values and an alpha above 0");
  ThetaForecast out;
  ThetaState state{.level = params.first_level};
  state.line = params.is_dynamic ? ThetaLine{history.front(), 0} : fit_line(history);
  for (const double value : history) {
    out.fitted.push_back(expected_value(state, params));
    read_value(state, params, value);
  }
  // The dynamic line goes on as if each forecast came true. The standard one rises by its slope.
  for (int h = 0; h < horizon; ++h) {
    const bool is_next = params.is_dynamic || h == 0;
    out.path.push_back(is_next ? expected_value(state, params)
                               : out.path.back() + (1 - 1 / params.theta) * state.line.slope);
    if (params.is_dynamic) read_value(state, params, out.path.back());
  }
  return out;
}

std::vector<double> best_theta(std::span<const double> history, int horizon) {
  constexpr double kAlphas[] = {0.1, 0.3, 0.5, 0.8};
  double least = std::numeric_limits<double>::infinity();
  ThetaParams best;
  const ThetaLine line = fit_line(history);
  for (const double alpha : kAlphas) {
    const ThetaParams params{.alpha = alpha, .theta = 2, .first_level = history.front() / 2};
    ThetaState state{.level = params.first_level, .line = line};
    double error = 0;
    for (const double value : history) {
      const double miss = value - expected_value(state, params);
      // The first value is half of the first level by definition.
      if (state.t > 0) error += miss * miss;
      read_value(state, params, value);
    }
    if (error >= least) continue;
    least = error;
    best = params;
  }
  return theta_forecast(history, best, horizon).path;
}

}  // namespace pennyweight::forecasting
