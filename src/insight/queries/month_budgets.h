// Queries how budgets stood at the end of a month, for its report.
#pragma once

#include <string>
#include <vector>

#include "insight/queries/budget_query.h"

namespace pennyweight {

// The periods that hold the end of a month, "2026-03": as on the day after it, and while it goes on
// as on `params.today`. So a month that is over is judged by what it cost: of one that is closed,
// no day is forecast. Errors as query_budgets().
Result<std::vector<BudgetStatus>> query_month_budgets(BudgetQuery params, const std::string& month,
                                                      bool is_closed, const Policy& policy,
                                                      const SummarySource& summarise);

}  // namespace pennyweight
