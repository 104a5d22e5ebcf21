#include "insight/forecast/baselines.h"

#include <algorithm>
#include <cstddef>

#include "core/check.h"

namespace pennyweight::forecasting {

std::vector<double> seasonal_naive(std::span<const double> history, int season, int horizon) {
  CHECK(!history.empty(), "there is no last value to repeat");
  const auto lag = static_cast<std::size_t>(season < 1 ? 1 : season);
  std::vector<double> path(static_cast<std::size_t>(horizon), history.back());
  if (history.size() < lag) return path;
  const auto last = history.last(lag);
  for (std::size_t h = 0; h < path.size(); ++h) path[h] = last[h % lag];
  return path;
}

std::vector<double> drift(std::span<const double> history, int horizon) {
  CHECK(!history.empty(), "there is no last value to go on from");
  const double slope = history.size() < 2 ? 0
                                          : (history.back() - history.front()) /
                                                static_cast<double>(history.size() - 1);
  std::vector<double> path(static_cast<std::size_t>(horizon));
  for (std::size_t h = 0; h < path.size(); ++h) {
    path[h] = history.back() + slope * static_cast<double>(h + 1);
  }
  return path;
}

double median(std::vector<double> values) {
  CHECK(!values.empty(), "an empty list has no median");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return (below + *middle) / 2;
}

std::vector<double> seasonal_median(std::span<const double> history, int season, int seasons,
                                    int horizon) {
  const auto lag = static_cast<std::size_t>(season < 1 ? 1 : season);
  if (history.size() < lag) return seasonal_naive(history, season, horizon);
  std::vector<double> pattern(lag);
  std::vector<double> same;
  for (std::size_t step = 0; step < lag; ++step) {
    same.clear();
    for (int back = 1; back <= seasons; ++back) {
      const std::size_t distance = lag * static_cast<std::size_t>(back) - step;
      if (distance > history.size()) break;
      same.push_back(history[history.size() - distance]);
    }
    pattern[step] = median(same);
  }
  std::vector<double> path(static_cast<std::size_t>(horizon));
  for (std::size_t h = 0; h < path.size(); ++h) path[h] = pattern[h % lag];
  return path;
}

}  // namespace pennyweight::forecasting
