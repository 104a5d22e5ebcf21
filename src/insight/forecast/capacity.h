// Says when GPUs run out: their daily peaks are forecast, and compared with how many there will be.
//
// How probable it is follows from earlier forecasts of the same series: each of them missed the
// days that followed by so much, and a future that misses in the same way is one of the possible
// ones. The probability is the share of these futures in which a day's peak exceeds what there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "insight/forecast/forecast.h"

namespace pennyweight::forecasting {

// Fewer earlier forecasts than this say nothing about a probability.
inline constexpr std::size_t kFuturesMin = 10;

struct CapacityOutlook {
  SeriesForecast basis;  // of the daily peaks, in GPUs

  // In percent: that some peak of the first `days` exceeds what there is on its day. Nothing where
  // too few earlier forecasts reach so far. REQUIRES: `gpu_milli` has as many days.
  std::optional<int> percent_out(std::span<const std::int64_t> gpu_milli, std::size_t days) const;
  // How many GPUs suffice for all peaks of the first `days` in so many percent of the futures.
  std::optional<std::uint64_t> enough(std::size_t days, int percent) const;
  // The first day, from 0 on, by which it is at least as probable as not that they have run out.
  std::optional<std::size_t> runs_out(std::span<const std::int64_t> gpu_milli) const;
  // The peak that is forecast of a day, from 0 on, and the range that holds 80 %.
  std::optional<std::int64_t> peak_milli(std::size_t day) const;
  struct MilliRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };
  std::optional<MilliRange> range_milli(std::size_t day) const;

 private:
  // The peaks of each possible future that is known for so many days.
  std::vector<std::vector<double>> futures(std::size_t days) const;
};

// `peaks_milli`: of complete days, oldest first, each the most GPUs that were held at one time.
// Errors: as forecast_series().
Result<CapacityOutlook> forecast_capacity(std::span<const std::int64_t> peaks_milli, int horizon);

}  // namespace pennyweight::forecasting
