// ForecastKeeper: while `serve` runs, keeps the forecasts of each complete day, so that people see
// how near earlier ones came.
#pragma once

#include <string>

#include "app/context/log.h"
#include "config/config.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/queries/known_events.h"
#include "reporting/queries/costs.h"
#include "server/forecast_book/forecast_book.h"

namespace pennyweight {

// One thread at a time uses it.
class ForecastKeeper {
 public:
  // All outlive it.
  ForecastKeeper(const Config& config, SummarySource summarise, KnownEventSource events,
                 ForecastBook& book, Log& log);

  // Makes and keeps the forecasts of effective costs, of everything together and by the dimension
  // of alerts.anomalies_by, if they are not kept for the last complete day. What fails is logged,
  // and tried again the next time.
  void keep(Date today);

 private:
  Result<void> keep_by(const std::string& by, Date today);

  const Config& config_;
  const SummarySource summarise_;
  const KnownEventSource events_;
  ForecastBook& book_;
  Log& log_;
  std::string reported_;
};

}  // namespace pennyweight
