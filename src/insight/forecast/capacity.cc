#include "insight/forecast/capacity.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::forecasting {
namespace {

// Half a thousandth of a GPU is no lack: shares of GPUs are added up in floating point.
constexpr double kTolerance = 0.0005;
constexpr double kMilli = 1000;

std::int64_t to_milli(double gpus) { return std::llround(std::max(gpus, 0.0) * kMilli); }

}  // namespace

std::vector<std::vector<double>> CapacityOutlook::futures(std::size_t days) const {
  std::vector<std::vector<double>> all;
  for (const std::vector<double>& errors : basis.errors) {
    if (errors.size() < days || basis.path.size() < days) continue;
    std::vector<double>& peaks = all.emplace_back();
    for (std::size_t day = 0; day < days; ++day) {
      peaks.push_back(std::max(basis.path[day] + errors[day], 0.0));
    }
  }
  return all;
}

std::optional<int> CapacityOutlook::percent_out(std::span<const std::int64_t> gpu_milli,
                                                std::size_t days) const {
  CHECK(gpu_milli.size() >= days, "what there is must be known for each of the days");
  const auto all = futures(days);
  if (all.size() < kFuturesMin) return std::nullopt;
  const auto is_out = [&](const std::vector<double>& peaks) {
    for (std::size_t day = 0; day < days; ++day) {
      if (peaks[day] > static_cast<double>(gpu_milli[day]) / kMilli + kTolerance) return true;
    }
    return false;
  };
  const auto out = static_cast<std::size_t>(std::ranges::count_if(all, is_out));
  return static_cast<int>((out * 100 + all.size() / 2) / all.size());
}

std::optional<std::uint64_t> CapacityOutlook::enough(std::size_t days, int percent) const {
  const auto all = futures(days);
  if (all.size() < kFuturesMin || days == 0) return std::nullopt;
  std::vector<double> most;
  for (const std::vector<double>& peaks : all) most.push_back(*std::ranges::max_element(peaks));
  std::ranges::sort(most);
  // One future more than is known, as conformal ranges have it.
  const std::size_t rank = ((most.size() + 1) * static_cast<std::size_t>(percent) + 99) / 100;
  const double gpus = most[std::clamp<std::size_t>(rank, 1, most.size()) - 1];
  return static_cast<std::uint64_t>(std::ceil(gpus - kTolerance));
}

std::optional<std::size_t> CapacityOutlook::runs_out(
    std::span<const std::int64_t> gpu_milli) const {
  for (std::size_t days = 1; days <= std::min(gpu_milli.size(), basis.path.size()); ++days) {
    const auto percent = percent_out(gpu_milli, days);
    if (!percent) return std::nullopt;
    if (*percent >= 50) return days - 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> CapacityOutlook::peak_milli(std::size_t day) const {
  if (day >= basis.path.size()) return std::nullopt;
  return to_milli(basis.path[day]);
}

std::optional<CapacityOutlook::MilliRange> CapacityOutlook::range_milli(std::size_t day) const {
  const auto range = day < basis.path.size() ? basis.range(day, 80) : std::nullopt;
  if (!range) return std::nullopt;
  return MilliRange{to_milli(range->low), to_milli(range->high)};
}

Result<CapacityOutlook> forecast_capacity(std::span<const std::int64_t> peaks_milli, int horizon) {
  std::vector<double> peaks;
  for (const std::int64_t peak : peaks_milli) peaks.push_back(static_cast<double>(peak) / kMilli);
  CapacityOutlook outlook;
  outlook.basis = TRY(forecast_series({.values = peaks, .seasons = {7}, .horizon = horizon}));
  return outlook;
}

}  // namespace pennyweight::forecasting
