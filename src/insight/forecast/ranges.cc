#include "insight/forecast/ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pennyweight::forecasting {
namespace {

constexpr int kPercents[] = {50, 80, 95};
// With fewer earlier forecasts than this nothing is said about the share that a range holds.
constexpr std::size_t kOriginsMin = 8;
constexpr double kBelowNominal = 0.15;

using Errors = std::span<const std::vector<double>>;

// The mean size of an error by step. Errors grow with the distance: where a later step looks
// better, the two are pooled (isotonic regression), since that is chance.
std::vector<double> spread_by_step(Errors errors, std::size_t steps) {
  struct Block {
    double sum = 0;
    double count = 0;
    std::size_t steps = 0;
  };
  std::vector<Block> blocks;
  for (std::size_t h = 0; h < steps; ++h) {
    Block block{0, 0, 1};
    for (const auto& row : errors) {
      if (h >= row.size()) continue;
      block.sum += std::abs(row[h]);
      ++block.count;
    }
    blocks.push_back(block);
    while (blocks.size() > 1) {
      const Block& last = blocks.back();
      Block& previous = blocks[blocks.size() - 2];
      // A step without outcomes is as uncertain as the one before it, at least.
      if (last.count > 0 && last.sum * previous.count > previous.sum * last.count) break;
      previous.sum += last.sum;
      previous.count += last.count;
      previous.steps += last.steps;
      blocks.pop_back();
    }
  }
  std::vector<double> spread;
  for (const Block& block : blocks) {
    spread.insert(spread.end(), block.steps, block.count == 0 ? 0 : block.sum / block.count);
  }
  return spread;
}

std::vector<double> relative_sizes(Errors errors, std::span<const double> spread) {
  std::vector<double> sizes;
  for (const auto& row : errors) {
    for (std::size_t h = 0; h < row.size(); ++h) {
      sizes.push_back(spread[h] == 0 ? 0 : std::abs(row[h]) / spread[h]);
    }
  }
  std::ranges::sort(sizes);
  return sizes;
}

// The size below which `share` of the sorted sizes lie, with the correction for a small sample of
// `origins` independent forecasts. Beyond the largest one it goes on in proportion.
double size_at(std::span<const double> sizes, double share, std::size_t origins) {
  if (sizes.empty()) return 0;
  const auto n = static_cast<double>(origins);
  const double wanted = share * (1 + (share > 0.9 ? 1.33 : 1) / n);
  if (wanted >= 1) return sizes.back() * (1 + (wanted - 1) * 10);
  const double at = wanted * static_cast<double>(sizes.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(below);
  const double next = sizes[std::min(below + 1, sizes.size() - 1)];
  return sizes[below] * (1 - part) + next * part;
}

// Ranges from the errors of two thirds of the forecasts, measured on the last third.
double measure_share(Errors errors, std::size_t steps, double share) {
  const std::size_t known = errors.size() * 2 / 3;
  const auto spread = spread_by_step(errors.first(known), steps);
  const auto sizes = relative_sizes(errors.first(known), spread);
  const double width = size_at(sizes, share, known);
  double inside = 0;
  double all = 0;
  for (const auto& row : errors.subspan(known)) {
    for (std::size_t h = 0; h < row.size(); ++h) {
      ++all;
      if (std::abs(row[h]) <= width * spread[h]) ++inside;
    }
  }
  return all == 0 ? 0 : inside / all;
}

Range range_around(double middle, double width, bool is_nonnegative) {
  const double low = middle - width;
  return {is_nonnegative ? std::max(low, 0.0) : low, middle + width};
}

// The errors of the sum of the first steps, of the forecasts whose outcome is known that far; where
// these are few, the sum of as many steps as are known, scaled up.
std::vector<double> sum_errors(const SeriesForecast& forecast, std::size_t steps) {
  std::vector<double> sums;
  for (const auto& row : forecast.errors) {
    // Half of the steps at least; the rest is taken to err in the same direction.
    if (row.size() * 2 < steps || row.empty()) continue;
    const std::size_t known = std::min(row.size(), steps);
    double sum = 0;
    for (std::size_t h = 0; h < known; ++h) sum += row[h];
    sums.push_back(sum * static_cast<double>(steps) / static_cast<double>(known));
  }
  std::ranges::sort(sums);
  return sums;
}

bool shows(const SeriesForecast& forecast, int percent) {
  return std::ranges::any_of(forecast.checks, [percent](const RangeCheck& check) {
    return check.percent == percent && check.is_shown;
  });
}

}  // namespace

void measure_ranges(SeriesForecast& forecast) {
  const std::size_t steps = forecast.path.size();
  forecast.spread = spread_by_step(forecast.errors, steps);
  forecast.relative = relative_sizes(forecast.errors, forecast.spread);
  for (const int percent : kPercents) {
    RangeCheck check{percent, 0, false};
    const double share = percent / 100.0;
    if (forecast.errors.size() >= kOriginsMin) {
      check.measured = measure_share(forecast.errors, steps, share);
      check.is_shown = check.measured >= share - kBelowNominal;
    }
    forecast.checks.push_back(check);
  }
}

std::optional<Range> SeriesForecast::range(std::size_t step, int percent) const {
  return range(path, step, percent);
}

std::optional<Range> SeriesForecast::sum_range(std::size_t steps, int percent) const {
  return sum_range(path, steps, percent);
}

std::optional<double> SeriesForecast::probability_above(std::size_t steps, double amount) const {
  return probability_above(path, steps, amount);
}

std::optional<Range> SeriesForecast::range(std::span<const double> around, std::size_t step,
                                           int percent) const {
  if (!shows(*this, percent) || step >= around.size()) return std::nullopt;
  const double width = size_at(relative, percent / 100.0, errors.size()) * spread[step];
  return range_around(around[step], width, is_nonnegative);
}

std::optional<Range> SeriesForecast::sum_range(std::span<const double> around, std::size_t steps,
                                               int percent) const {
  if (!shows(*this, percent) || steps > around.size()) return std::nullopt;
  std::vector<double> sizes = sum_errors(*this, steps);
  if (sizes.size() < kOriginsMin) return std::nullopt;
  for (double& size : sizes) size = std::abs(size);
  std::ranges::sort(sizes);
  double sum = 0;
  for (std::size_t h = 0; h < steps; ++h) sum += around[h];
  return range_around(sum, size_at(sizes, percent / 100.0, sizes.size()), is_nonnegative);
}

std::optional<double> SeriesForecast::probability_above(std::span<const double> around,
                                                        std::size_t steps, double amount) const {
  if (steps == 0 || steps > around.size()) return std::nullopt;
  const std::vector<double> sums = sum_errors(*this, steps);
  if (sums.size() < kOriginsMin) return std::nullopt;
  double sum = 0;
  for (std::size_t h = 0; h < steps; ++h) sum += around[h];
  double above = 0;
  for (const double error : sums) above += sum + error > amount ? 1 : 0;
  // Between the smallest and the largest error that was seen, never certain.
  return (above + 0.5) / (static_cast<double>(sums.size()) + 1);
}

}  // namespace pennyweight::forecasting
