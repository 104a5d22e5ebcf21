// What the rules would have told of in days that have passed: to choose thresholds before anybody
// is woken by them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/alerts/alert.h"
#include "insight/budgets/budget.h"
#include "ledger/usage.h"
#include "reporting/queries/costs.h"
#include "reporting/table.h"

namespace pennyweight {

inline constexpr int kPastDaysMax = 92;

struct PastAlertsQuery {
  Date first;
  Date last;  // inclusive
  std::vector<Budget> budgets = {};
  std::vector<forecasting::KnownEvent> events = {};
  SummarySource summarise;
  // The usage of all clusters in an interval, in batches.
  std::function<Result<void>(const Interval&, const std::function<void(std::span<const Usage>)>&)>
      usage;
};

struct PastAlerts {
  std::vector<Alert> told;              // by time; `notified` is when
  std::vector<std::string> notes = {};  // what could not be replayed, in sentences
};

// Days are of the configured time zone. Devices are looked at every 5 minutes; costs are those that
// the ledger has now, as of the end of each day. What depends on when data arrived, on what ran and
// on what was kept is not replayed: `notes` names these rules. Error of kBadValue for more days
// than kPastDaysMax, or none.
Result<PastAlerts> replay_alerts(const PastAlertsQuery& query, const Config& config);

// How often each rule would have told of something, and then each alert.
std::vector<Table> past_alert_tables(const PastAlerts& past, const PastAlertsQuery& query);

}  // namespace pennyweight
