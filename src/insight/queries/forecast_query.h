// Queries forecasts of costs: by a dimension, for days or months ahead, with ranges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/queries/daily_costs.h"
#include "reporting/table.h"

namespace pennyweight {

inline constexpr int kForecastDaysMax = 400;

struct ForecastQuery {
  DailyCostQuery costs;
  int days = 30;              // ahead, 1 to kForecastDaysMax
  std::string step = "none";  // none, day, month
  std::vector<forecasting::KnownEvent> events = {};
  bool half = false;  // with the range that holds 50 %, beside those of 80 and 95 %
};

struct ForecastResult {
  DailyCostHistory history;
  forecasting::CostForecasts forecasts;
};

// Errors: as query_daily_costs(); kBadValue for a number of days out of range and for bad events.
Result<ForecastResult> query_forecast(const ForecastQuery& params, const Policy& policy,
                                      const SummarySource& summarise);

// One row per key, or per key and day or month. A month has what was spent in it as well, and its
// forecast is both together.
Result<Table> forecast_table(const ForecastResult& result, const ForecastQuery& params);
// Which methods were tried, how far each was off, and whether the ranges hold.
Table forecast_explanation(const ForecastResult& result, const ForecastQuery& params);

}  // namespace pennyweight
