// Queries what telemetry saw: how busy GPUs were, how much of their memory was used and how much
// energy they took, by GPU, node, workload or any dimension, and by minute, hour or day.
#pragma once

#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct UsageQuery {
  std::vector<std::string> by = {"gpu"};
  std::vector<std::string> filters = {};  // "node=n1,n2", "user!=root"
  DateOptions dates = {};                 // local days; a month or a first day must be there
  std::string step = "none";              // none, minute, hour, day, week, month
  std::vector<SummaryFilter> scope = {};  // what the asker may see; further filters
  // What is shown: how busy GPUs were ("use"), every other number that the ledger has of them
  // ("health"), or XIDs, memory errors and throttled time, each when it was ("events"). The last
  // two are of devices alone: by cluster, node, gpu, instance and gpu_model, and for no scope.
  std::string show = "use";
  // Leaves out clusters that sent no telemetry in these days, for who has their GPU-hours already.
  bool observed_only = false;
};

// The dimensions beside those of the policy and "label:KEY".
std::vector<std::string> usage_dimensions();

// An Error of kBadValue names what can't be understood, or says that there are more than 400 days;
// kLimit: too many rows. One table; without
// rows where neither a GPU nor a holding is known. `now` ends the last day. It reads a local day at
// a time, so memory depends on one day's telemetry and on the rows.
Result<Table> query_usage(Store& store, const UsageQuery& params, const Policy& policy,
                          Instant now);

}  // namespace pennyweight
