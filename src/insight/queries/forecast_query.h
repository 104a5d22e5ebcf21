// Queries forecasts of costs: by a dimension, for days or months ahead, with ranges.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "insight/forecast/kept_forecast.h"
#include "insight/queries/daily_costs.h"
#include "ledger/summary.h"
#include "reporting/table.h"

namespace pennyweight {

inline constexpr int kForecastDaysMax = 400;

// The forecasts that were kept by a dimension; empty: of everything together.
using KeptForecasts =
    std::function<Result<std::vector<forecasting::KeptForecast>>(const std::string& by)>;

struct ForecastQuery {
  DailyCostQuery costs;
  int days = 30;              // ahead, 1 to kForecastDaysMax
  std::string step = "none";  // none, day, month
  std::vector<forecasting::KnownEvent> events = {};
  // What the asker may see of all costs, beside the filters: events of other costs don't count.
  std::vector<SummaryFilter> asker_scope = {};
  bool half = false;  // with the range that holds 50 %, beside those of 80 and 95 %
  // By which ranges are judged. Empty: they are not; so for users who see a part of the costs only.
  KeptForecasts kept = {};
};

struct ForecastResult {
  DailyCostHistory history;
  forecasting::CostForecasts forecasts;
  std::vector<forecasting::KeptScore> kept = {};  // of each part; empty: none are asked for
};

// Ranges that did not hold in forecasts that were kept are hidden, as those that did not hold on
// earlier days. Errors: as query_daily_costs(); kBadValue for a number of days out of range and for
// bad events.
Result<ForecastResult> query_forecast(const ForecastQuery& params, const Policy& policy,
                                      const SummarySource& summarise);

// One row per key, or per key and day or month. A month has what was spent in it as well, and its
// forecast is both together.
Result<Table> forecast_table(const ForecastResult& result, const ForecastQuery& params);
// Which methods were tried, how far each was off, and whether the ranges hold.
Table forecast_explanation(const ForecastResult& result, const ForecastQuery& params);
// How near the forecasts came that were kept. Without rows while none has come due.
Table kept_forecast_table(const ForecastResult& result, const ForecastQuery& params);

}  // namespace pennyweight
