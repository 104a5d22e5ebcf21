// Queries how far budgets have come, and days whose cost is unusual.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/anomalies/anomaly.h"
#include "insight/anomalies/verdict.h"
#include "insight/budgets/budget.h"
#include "insight/queries/budget_forecasts.h"
#include "insight/queries/daily_costs.h"
#include "insight/queries/incident_hour.h"
#include "insight/queries/live_budget_costs.h"
#include "reporting/table.h"

namespace pennyweight {

// How costs are converted to the currency of a budget: at the rate of the month in which they are
// booked, as everywhere (reporting/conversion.h).
struct BudgetConversion {
  RatesSource rates;
  RateSearch search = {};
  // Of the rates: what was measured with others is measured again.
  std::uint64_t version = 0;
};

// As on the day `today`: costs of later days don't count, also where the ledger has them.
struct BudgetQuery {
  std::span<const Budget> budgets;
  std::string name = {};  // of one budget; empty: all
  Date today = {};
  std::optional<Date> complete_until = {};  // as DailyCostQuery has it
  std::span<const forecasting::KnownEvent> events = {};
  bool forecasts = true;
  // Nothing: costs in another currency than a budget's are its `problem`.
  std::optional<BudgetConversion> conversion = {};
  BudgetForecasts* kept = nullptr;  // where forecasts are kept; null: each is made anew
  // Of the ledger: while it is the same, what was kept for it is not asked for again. Nothing: the
  // ledger is asked.
  std::optional<std::uint64_t> version = {};
  // What is known live; nothing: only what the ledger says.
  std::function<std::optional<LiveCost>(const Budget&)> live_cost = {};
};

// In the order of the budgets. One whose scope can't be understood, or has costs in another
// currency that can't be converted, has a `problem`, and the others are measured. Error of
// kNotFound for a name that no budget has.
Result<std::vector<BudgetStatus>> query_budgets(const BudgetQuery& params, const Policy& policy,
                                                const SummarySource& summarise);

// For LiveBudgetCosts: at the rates of the month of `today`. The rates are read when they are first
// needed.
LiveConversion live_conversion(const BudgetConversion& conversion, Date today);

// One table for each currency; GPU-hours are the last.
std::vector<Table> budget_tables(std::span<const BudgetStatus> statuses);

struct AnomalyQuery {
  DailyCostQuery costs;
  AnomalyRules rules = {};
  std::string cause = {};          // the dimension that explains; empty: as `costs.by`
  std::optional<Date> since = {};  // only incidents that last until this day or later
  // Of the ledger: the newest incidents are told of with the hour in which they began, and with
  // what changed of the machines behind them. Empty: with their days alone.
  PostingSource postings = {};
  // What people said of incidents; of effective costs without filters.
  std::vector<AnomalyVerdict> verdicts = {};
};

struct FoundAnomaly {
  std::string key;
  Date first;
  Date last;
  bool is_open = false;
  Incident incident;
  DifferenceSplit split;
  std::vector<Contribution> causes;  // by the dimension `cause`
  bool is_expected = false;          // as somebody said, of it or of its like
  std::string verdict;               // "expected: the yearly run (ana)"
  std::string sentence;              // "nlp: +1,240.00 USD a day since 2026-03-10, 92 % from …"
  std::string price_of = {};  // "p5.48xlarge": of `cause`, whose price explains it; empty: none
  std::string hour = {};      // "14:00 UTC" of the first day, where the ledger tells it
};

// Newest first. Errors as query_daily_costs().
Result<std::vector<FoundAnomaly>> query_anomalies(const AnomalyQuery& params, const Policy& policy,
                                                  const SummarySource& summarise);
Table anomaly_table(std::span<const FoundAnomaly> anomalies, const AnomalyQuery& params);

}  // namespace pennyweight
