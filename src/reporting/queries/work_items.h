// Work items: which run scopes are due to be allocated again, which worker is at it, and how far
// behind they are. Workers, the API and the metrics use them.
//
// An item is a scope of an open month. It is due if its current run was not made by a worker or was
// made by other rules, or if an import invalidated the scope since the run read its facts. The
// scope without a cluster may spread cost over the owners of all clusters of its month. It is
// therefore also due when one of their runs changed, and waits until they are up to date. Each run
// records its inputs, so the result is right whatever the order of events.
//
// A month's plan lists its scopes. When its charges, machines or join rules change, the month has
// to be planned again first.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "ledger/run.h"
#include "ledger/store.h"
#include "ledger/work.h"

namespace pennyweight {

// What decides whether a run is up to date.
struct WorkCriteria {
  Hash128 policy_version, catalog_version;
  std::string time_zone;
  Hash128 join_rules;
  bool spreads = false;  // the scope without a cluster may depend on the others' owners
  // Telemetry this long before and after a charge may affect it.
  std::chrono::milliseconds before{0}, after{0};
};
WorkCriteria work_criteria(const Policy& policy, const Catalog& catalog,
                           std::span<const JoinRule> join_rules);

// The state of a ledger's work. Keep it between refreshes, so that each reads only what is new.
struct WorkSnapshot {
  WorkRecords work_records;
  std::map<Scope, Run> current;                       // runs
  std::set<std::string> closed;                       // months
  std::set<std::string> months;                       // with bill lines
  std::map<Invalidation, std::uint64_t> invalidated;  // by which import last
  std::optional<std::uint64_t> imports;               // `months` and `invalidated` include these
};
Result<void> refresh_work(Store& store, WorkSnapshot& snapshot);

enum class WorkState {
  kDone,
  kDue,
  kWaiting,    // due once the other scopes of its month are up to date
  kClaimed,    // a worker is at it, or was when it died
  kUnplanned,  // the whole month: its scopes are not known yet
};
std::string_view to_text(WorkState state);  // "done", "due", "waiting", "claimed", "unplanned"

enum class DueReason { kNever, kOtherRun, kRules, kLines, kFacts, kOtherClusters };
std::string_view to_text(DueReason why);  // "never divided by a worker", …

struct WorkItem {
  Scope scope{ClusterId(""), ""};
  WorkState state = WorkState::kDone;
  std::optional<DueReason> due = {};        // the first reason that applies; set while claimed, too
  std::optional<WorkCompletion> done = {};  // a worker's last completion
  std::optional<ClaimState> claim = {};     // the newest, whether over or not
  std::optional<PlannedScope> plan = {};    // empty: it has no charges any more
  const Run* run = nullptr;                 // the current one; owned by the snapshot
  std::uint64_t imports_behind = 0;         // imports that its run has not read, if it is due
  std::optional<Instant> behind_since = {};  // the first of these that matters; see below
};
// By month, then cluster. A month that has to be planned again starts with a kUnplanned item.
// REQUIRES: `snapshot` outlives the items.
std::vector<WorkItem> work_items(const WorkSnapshot& snapshot, const WorkCriteria& rules);
// Sets behind_since where an import made the item due. Queries the ledger once for each distinct
// number of imports that the runs of due items have read, for at most the kBehindAskedMax lowest.
inline constexpr std::size_t kBehindAskedMax = 32;
Result<void> find_behind_since(Store& store, const WorkCriteria& rules,
                               std::vector<WorkItem>& items);

// A fingerprint of the runs that the scope without a cluster depends on.
Hash128 other_runs_hash(const WorkSnapshot& snapshot, const WorkCriteria& rules,
                        const std::string& month);

}  // namespace pennyweight
