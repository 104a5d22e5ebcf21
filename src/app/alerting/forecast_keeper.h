// ForecastKeeper: while `serve` runs, keeps the forecasts of each complete day, so that people see
// how near earlier ones came.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/context/log.h"
#include "config/config.h"
#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/forecast/cost_forecast.h"
#include "insight/queries/known_events.h"
#include "reporting/queries/costs.h"
#include "server/forecast_book/forecast_book.h"

namespace pennyweight {

// What a whole month is forecast to cost, effectively: its complete days and those to come.
struct MonthForecast {
  std::string month;  // "2026-03"
  Money amount;
  std::optional<forecasting::MoneyRange> range80 = {};
};

// One thread at a time uses it; any may ask for month().
class ForecastKeeper {
 public:
  // All outlive it.
  ForecastKeeper(const Config& config, SummarySource summarise, KnownEventSource events,
                 ForecastBook& book, Log& log);

  // Makes and keeps the forecasts of effective costs, of everything together and by the dimension
  // of alerts.anomalies_by, if they are not kept for the last complete day. What fails is logged,
  // and tried again the next time.
  // Also forecasts the current month.
  void keep(Date today);
  // As of the last keep(); null: nothing is known of the month, such as before the first one.
  std::shared_ptr<const MonthForecast> month() const;

 private:
  // Null: nothing is known of it.
  Result<std::shared_ptr<const MonthForecast>> forecast_month(Date today);
  Result<void> keep_by(const std::string& by, Date today);

  const Config& config_;
  const SummarySource summarise_;
  const KnownEventSource events_;
  ForecastBook& book_;
  Log& log_;
  std::string reported_;
  mutable std::mutex mutex_;  // guards month_
  std::shared_ptr<const MonthForecast> month_;
};

}  // namespace pennyweight
