// What else telemetry knows of devices, beside how busy they were: power, temperature, clocks,
// links, throttling, XIDs, memory errors; every number that the ledger has of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/queries/usage_report.h"
#include "reporting/table.h"

namespace pennyweight {

struct DeviceHealthQuery {
  std::vector<std::string> by;         // cluster, node, gpu, instance, gpu_model
  std::vector<SummaryFilter> filters;  // of the same
  UsageStep step = UsageStep::kNone;
  // XIDs, memory errors and throttled time alone, each when it was: no means, and no step.
  bool events_only = false;
  // A row of every number takes about 1 KiB while it is added up and 2 KiB as cells of a table, so
  // so many take less than 300 MiB.
  std::size_t rows_max = 100'000;
};

// Means are weighted by time; maxima are of all the time; what is counted is added up. A reading
// that holds for no known time counts in means only where there are no spans. Memory and activity
// are each MIG instance's own: rows that no instance names leave them empty where an instance has
// them, and a note says so. An Error of kBadValue names what can't be understood; kLimit: too many
// rows. Memory depends on the rows. Without a range, which is one of days to come, there are none.
Result<Table> query_device_health(Store& store, const DeviceHealthQuery& query,
                                  const Policy& policy, const std::optional<Interval>& range);

}  // namespace pennyweight
