#include "insight/forecast/metrics.h"

#include <cmath>
#include <cstddef>

#include "core/check.h"

namespace pennyweight::forecasting {
namespace {

template <class Loss>
double mean_loss(std::span<const double> actual, std::span<const double> forecast, Loss loss) {
  CHECK(!actual.empty() && actual.size() == forecast.size(),
        "an error is measured over as many forecasts as actual values");
  double sum = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) sum += loss(actual[i], forecast[i]);
  return sum / static_cast<double>(actual.size());
}

}  // namespace

double mean_absolute_error(std::span<const double> actual, std::span<const double> forecast) {
  return mean_loss(actual, forecast, [](double y, double f) { return std::abs(y - f); });
}

double bias(std::span<const double> actual, std::span<const double> forecast) {
  return mean_loss(actual, forecast, [](double y, double f) { return f - y; });
}

std::optional<double> wape(std::span<const double> actual, std::span<const double> forecast) {
  const double size = mean_loss(actual, actual, [](double y, double) { return std::abs(y); });
  if (size == 0) return std::nullopt;
  return mean_absolute_error(actual, forecast) / size;
}

double smape(std::span<const double> actual, std::span<const double> forecast) {
  return 200 * mean_loss(actual, forecast, [](double y, double f) {
           const double size = std::abs(y) + std::abs(f);
           return size == 0 ? 0 : std::abs(y - f) / size;
         });
}

double pinball(std::span<const double> actual, std::span<const double> forecast, double q) {
  return mean_loss(actual, forecast,
                   [q](double y, double f) { return y >= f ? q * (y - f) : (1 - q) * (f - y); });
}

std::optional<double> seasonal_scale(std::span<const double> history, int season) {
  const auto lag = static_cast<std::size_t>(season);
  if (season < 1 || history.size() <= lag) return std::nullopt;
  double sum = 0;
  for (std::size_t t = lag; t < history.size(); ++t) sum += std::abs(history[t] - history[t - lag]);
  if (sum == 0) return std::nullopt;
  return sum / static_cast<double>(history.size() - lag);
}

std::optional<double> mase(std::span<const double> actual, std::span<const double> forecast,
                           std::span<const double> history, int season) {
  const auto scale = seasonal_scale(history, season);
  if (!scale) return std::nullopt;
  return mean_absolute_error(actual, forecast) / *scale;
}

}  // namespace pennyweight::forecasting
