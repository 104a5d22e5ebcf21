// Measures a budget in a period that need not hold today: one that is over, for a report.
#pragma once

#include <optional>

#include "core/date.h"
#include "insight/budgets/budget.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// As measure_budget(), in this period. REQUIRES: it is one of the budget's.
BudgetStatus measure_period(const Budget& budget, const BudgetDays& period, const SpentDays& spent,
                            Date today, const std::optional<forecasting::CostForecast>& forecast);

}  // namespace pennyweight
