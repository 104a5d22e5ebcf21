// AlertFinder: evaluates the alert rules: which conditions hold now, and of what that can't be
// said.
//
// It keeps what it read of the ledger, so that only what has changed is read again. What is done
// about the conditions is the matter of AlertService.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/alerting/conditions.h"
#include "app/alerting/device_conditions.h"
#include "app/alerting/serving_conditions.h"
#include "app/context/log.h"
#include "config/config.h"
#include "insight/alerts/alert.h"
#include "insight/anomalies/verdict.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/approver_turns.h"
#include "insight/guardrails/stop_notice.h"
#include "insight/queries/budget_forecasts.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/forecast_query.h"
#include "insight/queries/known_events.h"
#include "reporting/live/live_rows.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

struct AlertSources {
  SummarySource summarise;
  std::function<std::shared_ptr<const LiveView>()> live;  // null before the first view
  // Of the ledger: unusual days are told of with the hour in which they began.
  PostingSource postings = {};
  // Of what `summarise` answers from: it changes whenever an answer may change. Nothing: that can't
  // be told now.
  std::function<std::optional<std::uint64_t>()> version = {};
  // The usage of all clusters in an interval, in batches.
  std::function<Result<void>(const Interval&, const std::function<void(std::span<const Usage>)>&)>
      usage = {};
  // The usage since an instant that the ledger may not have yet, the minute that goes on included,
  // and what each device reports now. At once: device rules are evaluated on it every 5 seconds.
  std::function<std::vector<Usage>(Instant)> live_usage = {};
  // The outcomes of all clusters in an interval, in batches.
  std::function<Result<void>(const Interval&, const std::function<void(std::span<const Outcome>)>&)>
      outcomes = {};
  // Whether this month and the last one are allocated to the last digit.
  std::function<Result<ReconcileResult>()> reconcile = {};
  // The commitments of the bill in this month and the last one.
  std::function<Result<std::vector<CommitmentUse>>()> commitments = {};
  // The spot nodes of the last 24 hours.
  std::function<Result<std::vector<SpotUse>>()> spot = {};
  // Containers of pods with GPUs that were killed for lack of memory. At once.
  std::function<OomKills()> oom_kills = {};
  // How long services took to answer. At once.
  std::function<std::vector<live::LatencyReading>(Instant now)> latencies = {};
  // Keeps the forecasts of the last complete day; called every 15 minutes.
  std::function<void(Date today)> keep_forecasts = {};
  // The forecasts that were kept by a dimension.
  KeptForecasts kept_forecasts = {};
  // Configured, and set by people since.
  std::function<Result<std::vector<Budget>>()> budgets = {};
  // What is known of days to come, configured and kept by people since.
  KnownEventSource events = {};
  // What people said of unusual days: those that were expected are no alerts.
  std::function<Result<std::vector<AnomalyVerdict>>()> verdicts = {};
  // All requests for approvals. At once.
  std::function<Result<std::vector<guardrails::Approval>>()> approvals = {};
  // Whose accounts may decide on them, as it is now. At once.
  std::function<guardrails::ApproverCheck()> approver_check = {};
  // The notices of limits that stop what runs. At once.
  std::function<guardrails::StopState()> limit_stops = {};
  // The address at which an approver decides on a request, by its id.
  std::function<Result<std::string>(const std::string& id, const std::string& approver)>
      approval_link = {};
};

// What holds now, and of what it can't be said.
struct AlertFindings {
  std::vector<AlertCondition> conditions;
  std::vector<UnknownAlerts> unknown;
};

// The rules that find_in_telemetry() evaluates.
std::span<const std::string_view> telemetry_rules();
// Those of a book that `find` and `find_in_telemetry` look at: it is asked of them whether it can
// be known that they go on.
AlertBook alerts_to_follow(const AlertBook& book);

// One thread at a time uses it.
class AlertFinder {
 public:
  // `config` and `log` outlive it.
  AlertFinder(const Config& config, AlertSources sources, Log& log);

  const AlertSources& sources() const { return sources_; }

  // All rules but those about devices. `book`: what goes on, of the rules to follow at least.
  AlertFindings find(Date today, Instant now, const AlertBook& book);
  // Adds what telemetry says of devices, nodes and clusters: of the ledger and of what has just
  // arrived, or beside what the ledger last said.
  enum class Telemetry { kAll, kArrived };
  void find_in_telemetry(Instant now, Telemetry which, const AlertBook& book, AlertFindings& found);
  // As of the last find().
  std::shared_ptr<const std::vector<BudgetStatus>> budgets() const { return budgets_; }

 private:
  std::optional<std::uint64_t> version() const;
  void report(const std::string& doing, const Error* why);
  std::vector<Budget> all_budgets(AlertFindings& found);
  const std::vector<forecasting::KnownEvent>& all_events();
  bool read_checkpoints(Instant now, const AlertBook& book);
  void look_at_view();
  void find_unknown_checkpoints(const AlertBook& book, AlertFindings& found) const;
  void look_at_days(Date today, Instant now, const AlertBook& book);
  std::vector<AnomalyVerdict> read_verdicts();
  void find_in_days(Date today, const AlertBook& book, AlertFindings& found);
  void find_in_approvals(Instant now, AlertFindings& found);
  void find_by_owner(const DailyCostQuery& costs, const SummarySource& summarise,
                     AlertFindings& found);
  void reconcile(Instant now);
  void look_at_purchases(Date today, Instant now);
  Result<void> read_telemetry(Instant now);
  void find_in_pods(Instant now, const AlertBook& book, AlertFindings& found);
  using OwnersOfRunning = std::map<std::pair<ClusterId, WorkloadId>, std::string>;
  OwnersOfRunning owners_of_running() const;
  void add_enabled(std::vector<AlertCondition> more, AlertFindings& found) const;

  const Config& config_;
  const AlertSources sources_;
  Log& log_;
  std::map<std::string, std::string> reported_;  // problems that were logged, by what failed
  std::vector<forecasting::KnownEvent> events_;  // as they were read last
  BudgetForecasts forecasts_;
  std::shared_ptr<const std::vector<BudgetStatus>> budgets_ =
      std::make_shared<const std::vector<BudgetStatus>>();
  LastTelemetry last_telemetry_;
  std::vector<Usage> usages_;  // of the ledger, in the window before usages_read_
  std::optional<Instant> usages_read_;
  std::shared_ptr<const ViewRows> view_;               // null before the first one
  std::set<std::pair<ClusterId, NodeId>> held_nodes_;  // of the view: work holds their GPUs
  CheckpointTimes checkpoints_;
  std::optional<Instant> checkpoints_read_;
  bool missed_checkpoints_ = false;  // the last read of them failed
  AlertFindings reconciliation_;     // of the last one
  std::optional<Instant> reconciled_;
  std::uint64_t reconciled_version_ = 0;
  AlertFindings purchases_;  // of the last look at commitments and spot nodes
  std::optional<Instant> purchases_read_;
  AlertFindings days_;             // of the last look at all days
  std::optional<Instant> looked_;  // when that was
  std::uint64_t looked_version_ = 0;
  std::vector<AnomalyVerdict> verdicts_;  // of the last look
  std::chrono::milliseconds look_took_{0};
};

}  // namespace pennyweight
