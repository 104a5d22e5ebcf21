// Which scopes are due to be divided again, who is at it, and how far behind they are: what workers
// go by, and what the API and metrics tell.
//
// An item is a scope of an open month. It is due where its current run was not made by a worker, or
// by other rules, or where something touched it since the facts of that run were read. The scope of
// no cluster may spread over the owners of all clusters of its month, so it is due as well when one
// of their runs changed, and it waits until they are up to date: what it is made of is written down
// with its run, so that it comes right by itself, in whatever order things happened.
//
// Which scopes a month has is known from its plan. A month whose lines, machines or rules of
// joining changed since is to be planned again first.
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

#include "core/error.h"
#include "fleet/cloud_resource.h"
#include "ledger/run.h"
#include "ledger/store.h"
#include "ledger/work.h"
#include "policy/policy.h"
#include "pricing/catalog.h"

namespace pennyweight {

// The rules by which workers divide, as far as they decide what is due.
struct WorkRules {
  Hash128 policy_version, catalog_version;
  std::string time_zone;
  Hash128 join_rules;
  bool spreads = false;  // the scope of no cluster may go by the owners of the others
  // Telemetry so long before a line, and after it, may still be read for it.
  std::chrono::milliseconds before{0}, after{0};
};
WorkRules work_rules(const Policy& policy, const Catalog& catalog,
                     std::span<const JoinRule> join_rules);

// What is known of a ledger; kept from look to look, so that each reads only what is new.
struct WorkLook {
  WorkBook book;
  std::map<Scope, Run> current;                   // runs
  std::set<std::string> closed;                   // months
  std::set<std::string> months;                   // with bill lines
  std::map<TouchedPlace, std::uint64_t> touched;  // the last import that did
  std::optional<std::uint64_t> imports;           // up to which `months` and `touched` are read
};
Result<void> look_at_work(Store& store, WorkLook& look);

enum class WorkState {
  kDone,
  kDue,
  kWaiting,    // due, once the other scopes of its month are up to date
  kClaimed,    // somebody is at it, or was when he died
  kUnplanned,  // the month as a whole: its scopes are to be found out first
};
std::string_view to_text(WorkState state);  // "done", "due", "waiting", "claimed", "unplanned"

enum class DueBecause { kNever, kOtherRun, kRules, kLines, kFacts, kElsewhere };
std::string_view to_text(DueBecause why);  // "never divided", …

struct WorkItem {
  Scope scope{ClusterId(""), ""};
  WorkState state = WorkState::kDone;
  std::optional<DueBecause> due = {};     // the first reason that holds, also while it is claimed
  std::optional<WorkDone> done = {};      // by a worker, last
  std::optional<ClaimState> claim = {};   // the newest, over or not
  std::optional<PlannedScope> plan = {};  // nothing: it has no lines any more
  const Run* run = nullptr;               // the current one, in WorkLook::current
  std::uint64_t imports_behind = 0;       // that its run has not seen, where it is due
  std::optional<Instant> behind_since = {};  // when the first of those that matter came; see below
};
// By month, then cluster; of each month that is to be planned again first an item of kUnplanned.
// REQUIRES: `look` outlives the items.
std::vector<WorkItem> work_items(const WorkLook& look, const WorkRules& rules);
// Finds out behind_since, where an import made the item due. The ledger is asked once for each
// number of imports that runs of due items have seen, of the earliest kBehindAskedMax.
inline constexpr std::size_t kBehindAskedMax = 32;
Result<void> find_behind_since(Store& store, const WorkRules& rules, std::vector<WorkItem>& items);

// The runs that the scope of no cluster is made of.
Hash128 elsewhere_of(const WorkLook& look, const WorkRules& rules, const std::string& month);

}  // namespace pennyweight
