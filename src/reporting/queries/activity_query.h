// Queries the activity of workloads: GPU-, CPU-, memory-, node- and wall-hours, and how many jobs
// there were, by any dimension; and the same figures as sreport and Open XDMoD name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct ActivityQuery {
  std::vector<std::string> by = {};       // empty: one row, or as the named report has it
  std::vector<std::string> filters = {};  // "partition=gpu,long", "user!=root"
  DateOptions dates = {};       // in the policy's time zone; the month is a calendar month
  std::string step = "none";    // none, day, week, month
  std::string as = "activity";  // a name of activity_reports()
  std::vector<SummaryFilter> scope = {};  // what the asker may see; further filters
};

// The reports, and what each is.
struct NamedActivityReport {
  std::string_view name;
  std::string_view description;
};
const std::vector<NamedActivityReport>& activity_reports();

// An Error of kBadValue names what can't be understood. One table; without rows where no holding
// matches. `now` ends what nodes have that are still there.
Result<Table> query_activity(Store& store, const ActivityQuery& params, const Policy& policy,
                             Instant now);

}  // namespace pennyweight
