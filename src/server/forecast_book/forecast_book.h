// ForecastBook: the forecasts that `serve` made, kept so that they can be scored once the days that
// they are about have passed.
//
// A file beside the ledger, one forecast a line. `serve` adds those of each complete day and drops
// those that are older than kKeptFor; other programs only read it.
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "insight/forecast/kept_forecast.h"

namespace pennyweight {

// Any thread may use it.
class ForecastBook {
 public:
  static constexpr std::chrono::days kKeptFor{100};

  // The file need not exist.
  explicit ForecastBook(std::string path);

  // Those by a dimension, the oldest first; empty: of everything together.
  Result<std::vector<forecasting::KeptForecast>> kept(const std::string& by);
  // Whether there are any by a dimension that begin on this day.
  Result<bool> has(const std::string& by, Date first);
  // Adds forecasts, all of which begin on one day, and drops old ones.
  Result<void> add(std::span<const forecasting::KeptForecast> forecasts);

 private:
  Result<void> read();  // callers hold mutex_

  const std::string path_;
  std::mutex mutex_;  // guards the following
  bool is_read_ = false;
  std::vector<forecasting::KeptForecast> kept_;
};

}  // namespace pennyweight
