#include "insight/forecast/level_shift.h"

#include <algorithm>
#include <cmath>

#include "insight/forecast/baselines.h"

namespace pennyweight::forecasting {
namespace {

constexpr double kDeviations = 6;
constexpr double kDeviationToSigma = 1.4826;

double deviation(std::span<const double> values, double middle) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return kDeviationToSigma * median(std::move(distances));
}

double middle_of(std::span<const double> values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

}  // namespace

LevelShift find_level_shift(std::span<const double> values, int season) {
  const auto steps = static_cast<std::size_t>(std::max(season, 2));
  LevelShift found;
  if (values.size() < 4 * steps) return found;
  double best = 0;
  // The candidates: the largest changes between the two seasons around each step.
  std::vector<double> sums(values.size() + 1, 0);
  for (std::size_t t = 0; t < values.size(); ++t) sums[t + 1] = sums[t] + values[t];
  for (std::size_t at = 2 * steps; at + steps <= values.size(); ++at) {
    const double change = std::abs((sums[at + steps] - sums[at]) - (sums[at] - sums[at - steps]));
    if (change <= best) continue;
    best = change;
    found.at = at;
  }
  if (found.at == 0) return found;
  const auto before = values.subspan(found.at - 2 * steps, 2 * steps);
  const auto after = values.subspan(found.at);
  found.before = middle_of(before);
  found.after = middle_of(after);
  const double gap = std::abs(found.after - found.before);
  const double noise =
      std::max({deviation(before, found.before), deviation(after, found.after),
                deviation(values.first(found.at), middle_of(values.first(found.at)))});
  const double size = std::max(std::abs(found.before), std::abs(found.after));
  found.is_found = gap > kDeviations * noise && gap > 0.2 * size;
  return found;
}

std::vector<double> without_shift(std::span<const double> values, const LevelShift& shift) {
  std::vector<double> out(values.begin(), values.end());
  const bool scales = shift.before > 0 && shift.after > 0;
  for (std::size_t t = 0; t < shift.at; ++t) {
    out[t] = scales ? out[t] * (shift.after / shift.before) : out[t] + shift.after - shift.before;
  }
  return out;
}

}  // namespace pennyweight::forecasting
