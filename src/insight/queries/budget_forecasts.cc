#include "insight/queries/budget_forecasts.h"

#include <utility>

#include "core/try.h"

namespace pennyweight {

Result<forecasting::CostForecast> BudgetForecasts::forecast(
    const std::string& name, const forecasting::CostForecastRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = kept_.find(name);
    if (known != kept_.end() && known->second.request == request) return known->second.forecast;
  }
  forecasting::CostForecasts made = TRY(forecasting::forecast_costs(request));
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kKeptMax && !kept_.contains(name)) kept_.clear();
  kept_.insert_or_assign(name, Kept{request, made.whole});
  return std::move(made.whole);
}

}  // namespace pennyweight
