// The alert rules: each is a pure function from budgets, unusual days or running workloads to the
// conditions that hold now. HACKING.md says how to add one; insight/alerts decides who is notified.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/date.h"
#include "insight/alerts/alert.h"
#include "insight/forecast/kept_forecast.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/commitment_use.h"
#include "insight/queries/spot_use.h"
#include "ledger/outcome.h"
#include "reporting/live/live_rows.h"
#include "reporting/queries/reconcile.h"

namespace pennyweight {

// budget_exhausted (critical), budget_spent at 50 and 80 %, budget_forecast, budget_probable.
// Nothing of a budget that could not be measured.
std::vector<AlertCondition> budget_conditions(const std::vector<BudgetStatus>& statuses);
// So many thousandths of what a day cost in all, as the mean of the last 28 days of `whole`;
// nothing where that is not known.
std::optional<Money> least_anomaly(const DailyCostHistory& whole, std::uint32_t permille);
// The dimension that anomalies are queried with as their `cause`: its values have a price.
inline constexpr const char* kAnomalyCause = "instance_type";
struct AnomalyLimits {
  std::string by;                   // the dimension of their keys, "team"
  Date since;                       // those that ended earlier are of the past
  std::optional<Money> least = {};  // of an impact a day; of one in another currency nothing
};
// Anomalies are read from so long before `since`: an incident is told of with all of its parts.
inline constexpr std::chrono::days kIncidentBack{14};
// cost_anomaly: unusual days, one condition for each key. Those of several keys that one price
// explains, and that are told of for the first time now, are one incident: a condition that tells
// of all of them, and theirs are for their owners alone. `book` has what is told of already: that
// stays what it was, whoever joins or ends. So an incident goes on while the price is behind any
// unusual days, and a key that is unusual later is told of to everybody by itself.
std::vector<AlertCondition> anomaly_conditions(std::span<const FoundAnomaly> anomalies,
                                               const AnomalyLimits& limits, const AlertBook& book);
// gpu_idle (held and not used for so long), inference_idle (so do workloads that answer requests,
// which is graver), low_utilisation and high_utilisation (less or more than a share of it used).
std::vector<AlertCondition> live_conditions(std::span<const LiveRow> rows,
                                            const AlertConfig& config);
// A condition of live_conditions() that waits no longer than the window of the view, whose use is
// the mean of that window, waits for nothing: 5 idle minutes are known as soon as the window is.
void shorten_proven_waits(const ViewRows& view, std::vector<AlertCondition>& conditions);
// Adds to what says that GPUs of a node stand still (gpu_xid, gpu_ecc, node_missing) what an hour
// of the node costs, where it has a price.
void add_node_prices(const LiveView& view, std::vector<AlertCondition>& conditions);
// coverage_fell: in the last 7 complete days a smaller share of the costs has an owner than in the
// 28 days before. `history`: by the dimension of owners.
std::vector<AlertCondition> owner_conditions(const DailyCostHistory& history,
                                             const std::string& dimension,
                                             std::uint32_t points_max);
// forecast_missed: on 3 of the last 7 complete days the cost was outside the 95 % range that was
// forecast the day before. `history` and `kept`: by one dimension.
std::vector<AlertCondition> missed_forecast_conditions(
    const DailyCostHistory& history, std::span<const forecasting::KeptForecast> kept);
// no_checkpoint: a workload that runs, and has written checkpoints while it ran, has written none
// for so long. `checkpoints`: outcomes of the measure "checkpoints".
using CheckpointTimes = std::map<std::pair<ClusterId, WorkloadId>, Instant>;
void note_checkpoints(std::span<const Outcome> outcomes, CheckpointTimes& times);
std::vector<AlertCondition> checkpoint_conditions(std::span<const LiveRow> rows,
                                                  const CheckpointTimes& checkpoints, Instant now,
                                                  std::chrono::milliseconds wait);
// reconcile_off: what was posted of a month is not what was billed.
std::vector<AlertCondition> reconcile_conditions(const ReconcileResult& result);
// commitment_underused: less than a share of a commitment was used in the newest month of which at
// least a week is billed. commitment_expires: it ends soon, as the bill or the configuration says.
std::vector<AlertCondition> commitment_conditions(std::span<const CommitmentUse> uses, Date today,
                                                  const AlertConfig& config);
// spot_interrupted: more than a share of a cluster's spot nodes were taken back in a day.
std::vector<AlertCondition> spot_conditions(std::span<const SpotUse> uses,
                                            std::uint32_t percent_max);
// costs_missing: the ledger has no costs of more than `days_max` days. An alert about the bill, or
// about `serve` itself, and never about a ledger that has no costs yet.
std::vector<AlertCondition> coverage_conditions(const DailyCostHistory& history, Date today,
                                                std::uint32_t days_max);

}  // namespace pennyweight
