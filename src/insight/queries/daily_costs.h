// Queries the costs of each day, by a dimension: what forecasts, budgets and anomalies start from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/budgets/budget.h"
#include "insight/forecast/cost_forecast.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

struct DailyCostQuery {
  std::string by = {};                    // a dimension; empty: everything together
  std::vector<std::string> filters = {};  // "team=nlp,cv", "kind!=shared"
  std::string cost = "effective";         // effective, billed, list, contracted, gpu_hours
  Date today = {};  // in the ledger's time zone; it and later days are left out
  // Where the caller knows it: days up to it are complete, and one without costs is a 0.
  std::optional<Date> complete_until = {};
  int days_max = 400;         // of history
  std::size_t keys_max = 20;  // the largest; the others are one
};

struct DailyCostHistory {
  Date first_day = {};
  std::vector<forecasting::DailyCosts> parts = {};  // largest first; each of as many days
  std::vector<bool> missing = {};                   // by day: the ledger has no cost of anything
  std::vector<std::string> notes = {};              // what was left out, in sentences
  Date last_day() const {
    return first_day + std::chrono::days(missing.size()) - std::chrono::days(1);
  }
};

// The last day of history is complete: it is before today, and costs at least half of the cheapest
// of the 7 days before it. A later one is left out and named, and so are the last two days if
// nothing held a GPU on them, while something did on each of the 7 days before.
// Errors: kBadValue for what can't be understood, and where costs are in several currencies;
// kNotFound where there is no complete day.
Result<DailyCostHistory> query_daily_costs(const DailyCostQuery& params, const Policy& policy,
                                           const SummarySource& summarise);
Result<CostColumn> parse_one_cost(const std::string& cost);

// The last complete day before `today`, as query_daily_costs() finds it, of all that `summarise`
// answers; nothing: there is none.
Result<std::optional<Date>> last_complete_day(Date today, const SummarySource& summarise);

// A cost of the row, or for "gpu_hours" its GPU-hours, rounded down at the 18th digit, in the
// "currency" kGpuHourUnit.
Result<Money> budget_cost(const SummaryRow& row, const std::string& cost);

inline constexpr const char* kOtherKeys = "(others)";

}  // namespace pennyweight
