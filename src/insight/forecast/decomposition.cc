#include "insight/forecast/decomposition.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pennyweight::forecasting {
namespace {

constexpr int kRounds = 2;

// The mean of the season around each value; at the ends, of what there is.
std::vector<double> moving_mean(std::span<const double> values, std::size_t season) {
  std::vector<double> sums(values.size() + 1, 0);
  for (std::size_t t = 0; t < values.size(); ++t) sums[t + 1] = sums[t] + values[t];
  std::vector<double> means(values.size());
  const std::size_t half = season / 2;
  for (std::size_t t = 0; t < values.size(); ++t) {
    // Always one whole season, moved inwards at the ends, so that no season leaks into the trend.
    std::size_t begin = t < half ? 0 : t - half;
    begin = std::min(begin, values.size() - season);
    means[t] = (sums[begin + season] - sums[begin]) / static_cast<double>(season);
  }
  return means;
}

std::vector<double> season_pattern(std::span<const double> values, std::size_t season,
                                   double recency) {
  const auto trend = moving_mean(values, season);
  std::vector<double> pattern(season, 0);
  std::vector<double> weights(season, 0);
  double weight = 1;
  for (std::size_t back = 0; back < values.size(); ++back) {
    if (back > 0 && back % season == 0) weight *= recency;
    const std::size_t t = values.size() - 1 - back;
    pattern[t % season] += weight * (values[t] - trend[t]);
    weights[t % season] += weight;
  }
  double mean = 0;
  // Few seasons say little, so a pattern counts for less: n / (n + 1) of it.
  for (std::size_t i = 0; i < season; ++i) {
    pattern[i] /= weights[i] + 1;
    mean += pattern[i] / static_cast<double>(season);
  }
  for (double& value : pattern) value -= mean;
  return pattern;
}

}  // namespace

double Decomposition::seasonal(std::size_t t) const {
  double sum = 0;
  for (const auto& pattern : patterns) sum += pattern[t % pattern.size()];
  return sum;
}

Decomposition decompose(std::span<const double> history, std::span<const int> seasons,
                        double recency) {
  Decomposition out;
  out.rest.assign(history.begin(), history.end());
  for (const int season : seasons) {
    const auto steps = static_cast<std::size_t>(season);
    if (season < 2 || history.size() < 2 * steps) continue;
    out.seasons.push_back(season);
    out.patterns.emplace_back(steps, 0.0);
  }
  const int rounds = out.seasons.size() > 1 ? kRounds : 1;
  for (int round = 0; round < rounds; ++round) {
    for (auto& pattern : out.patterns) {
      const std::size_t season = pattern.size();
      for (std::size_t t = 0; t < out.rest.size(); ++t) out.rest[t] += pattern[t % season];
      pattern = season_pattern(out.rest, season, recency);
      for (std::size_t t = 0; t < out.rest.size(); ++t) out.rest[t] -= pattern[t % season];
    }
  }
  return out;
}

std::vector<double> decomposed_smoothing(const Decomposition& parts, int horizon) {
  constexpr double kAlphas[] = {0.05, 0.15, 0.3, 0.5, 0.8};
  double best_error = std::numeric_limits<double>::infinity();
  double best_level = parts.rest.back();
  for (const double alpha : kAlphas) {
    double level = parts.rest.front();
    double error = 0;
    for (const double value : parts.rest) {
      error += std::abs(value - level);
      level += alpha * (value - level);
    }
    if (error < best_error) {
      best_error = error;
      best_level = level;
    }
  }
  std::vector<double> path(static_cast<std::size_t>(horizon));
  for (std::size_t h = 0; h < path.size(); ++h) {
    path[h] = best_level + parts.seasonal(parts.rest.size() + h);
  }
  return path;
}

std::vector<double> decomposed_autoregression(const Decomposition& parts, int horizon) {
  const std::size_t n = parts.rest.size();
  // The last values say more about the mean to which the series returns.
  double mean = 0;
  double weights = 0;
  double weight = 1;
  const double keep = 1 - 2 / (static_cast<double>(n) + 1);
  for (std::size_t back = 0; back < n; ++back) {
    mean += weight * parts.rest[n - 1 - back];
    weights += weight;
    weight *= keep;
  }
  mean /= weights;
  double together = 0;
  double alone = 0;
  for (std::size_t t = 1; t < n; ++t) {
    together += (parts.rest[t] - mean) * (parts.rest[t - 1] - mean);
    alone += (parts.rest[t - 1] - mean) * (parts.rest[t - 1] - mean);
  }
  const double stay = alone == 0 ? 0 : std::clamp(together / alone, 0.0, 0.999);
  std::vector<double> path(static_cast<std::size_t>(horizon));
  double distance = n == 0 ? 0 : parts.rest.back() - mean;
  for (std::size_t h = 0; h < path.size(); ++h) {
    distance *= stay;
    path[h] = mean + distance + parts.seasonal(n + h);
  }
  return path;
}

}  // namespace pennyweight::forecasting
