// The alert rules: each is a pure function from budgets, unusual days or running workloads to the
// conditions that hold now. HACKING.md says how to add one; insight/alerts decides who is notified.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/date.h"
#include "insight/alerts/alert.h"
#include "insight/queries/budget_query.h"
#include "reporting/live/live_rows.h"

namespace pennyweight {

// budget_exhausted (critical), budget_spent at 50 and 80 %, budget_forecast, budget_probable.
// Nothing of a budget that could not be measured.
std::vector<AlertCondition> budget_conditions(const std::vector<BudgetStatus>& statuses);
// cost_anomaly, for unusual days that go on or ended in the last 3 complete days.
std::vector<AlertCondition> anomaly_conditions(const std::vector<FoundAnomaly>& anomalies);
// gpu_idle (held and not used for so long), low_utilisation (less than `low_percent` of it used).
std::vector<AlertCondition> live_conditions(const LiveView& view,
                                            std::chrono::milliseconds idle_for,
                                            std::uint32_t low_percent);
// costs_missing: the ledger has no costs of more than `days_max` days. An alert about the bill, or
// about `serve` itself, and never about a ledger that has no costs yet.
std::vector<AlertCondition> coverage_conditions(const DailyCostHistory& history, Date today,
                                                std::uint32_t days_max);

}  // namespace pennyweight
