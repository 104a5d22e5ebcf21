// Forecasts of budgets, kept while the days behind them stay the same.
//
// A forecast depends on its history alone, and that changes with a new complete day or a new run,
// while budgets are looked at each minute. Results never depend on what is kept.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "core/error.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// Any thread may use it.
class BudgetForecasts {
 public:
  // The forecast of the whole of `request`, made or kept. `name`: of the budget.
  Result<forecasting::CostForecast> forecast(const std::string& name,
                                             const forecasting::CostForecastRequest& request);

 private:
  static constexpr std::size_t kKeptMax = 10'000;
  struct Kept {
    forecasting::CostForecastRequest request;
    forecasting::CostForecast forecast;
  };
  std::mutex mutex_;  // guards kept_
  std::map<std::string, Kept> kept_;
};

}  // namespace pennyweight
