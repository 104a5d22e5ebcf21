// Work: which scope is allocated next, and by whom, where several programs share a ledger.
//
// A worker claims a scope, allocates it, and saves the run together with a completion that says
// which facts the run was made of. Claims, runs and completions have one order. A run that belongs
// to a claim is saved only while that claim is the newest of its scope and no other run of the
// scope was saved since. So a worker that was taken for dead and wakes up can neither save a run
// twice nor put older facts over newer ones. When a claim may be taken over is a matter of time:
// workers decide that (reporting/queries/work_items.h), never the store.
//
// A scope is due when an import invalidated its run: by new facts of a day of a cluster, by a
// change of its machines, by charges of a month. An invalidation errs on the side of being too
// broad: a run too many changes nothing, a run too few is a wrong bill.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/outcome.h"
#include "ledger/run.h"
#include "ledger/usage.h"

namespace pennyweight {

enum class InvalidationKind {
  kCharges,      // charges of a month came, or were taken back
  kFleet,        // nodes or GPUs of a cluster: they may decide about any of its months
  kDay,          // holdings, usage or outages on a day of a cluster
  kCorrections,  // corrections on a day of a cluster
};
std::string_view to_text(InvalidationKind kind);  // "lines", "fleet", "day", "corrections"
std::optional<InvalidationKind> parse_invalidation_kind(std::string_view text);

// What one import invalidated.
struct Invalidation {
  InvalidationKind kind;
  ClusterId cluster;          // empty for kCharges
  std::chrono::sys_days day;  // in UTC; of kCharges the first of the month in which they are
                              // booked; of kFleet 1970-01-01
  auto operator<=>(const Invalidation&) const = default;
};
Invalidation charge_invalidation(std::string_view month);  // REQUIRES: "2026-03"

// An invalidation, and which imports caused it.
struct InvalidatedScope {
  Invalidation invalidation;
  std::uint64_t first_import = 0, last_import = 0;  // their numbers
  Instant first_imported_at;
  bool operator==(const InvalidatedScope&) const = default;
};

// A set of days, made for many overlapping ranges: one bit for each day.
class DaySet {
 public:
  // Both inclusive. A day before 1970 or after 2199 counts as the nearest day within.
  void add(std::chrono::sys_days first, std::chrono::sys_days last);
  std::vector<std::chrono::sys_days> days() const;  // sorted

 private:
  std::vector<std::uint64_t> words_;
};

// Collects what the facts of one import invalidate, kind by kind: a kind without new facts
// invalidates nothing. Used by one thread at a time.
class InvalidationCollector {
 public:
  void add(const Holding& fact) { add(kHoldings, fact.cluster, fact.held); }
  void add(const Node& fact) { add(kNodes, fact.cluster); }
  void add(const Gpu& fact) { add(kGpus, fact.cluster); }
  void add(const Usage& fact);
  void add(const Outage& fact) { add(kOutages, fact.cluster, fact.during); }
  void add(const Correction& fact) { add(kCorrections, fact.cluster, fact.during); }
  void add(const Outcome& /*fact*/) {}  // runs do not read them

  // How many facts of each kind were new.
  struct Created {
    std::uint64_t holdings, nodes, gpus, usages, outages, corrections;
  };
  // Sorted; without those of charges.
  std::vector<Invalidation> invalidations(const Created& created) const;

 private:
  enum Kind : std::size_t { kHoldings, kNodes, kGpus, kUsages, kOutages, kCorrections, kKinds };
  using Days = std::unordered_map<std::string, DaySet>;  // by cluster; only looked into
  void add(Kind kind, const ClusterId& cluster);
  void add(Kind kind, const ClusterId& cluster, const Interval& during);

  std::array<Days, kKinds> days_;
  // Of the usage before: the next one is mostly of the same day.
  std::string usage_cluster_;
  std::optional<std::chrono::sys_days> usage_day_ = {};
};

struct WorkClaim {
  std::uint64_t number = 0;  // 1, 2, … in the ledger: a later claim has a larger one
  Scope scope{ClusterId(""), ""};
  std::string worker = {};             // its name, for people
  Instant at = {};                     // by the worker's clock
  std::chrono::milliseconds lease{0};  // after so long without a heartbeat others may take it over
  std::uint64_t run = 0;  // the number of the scope's current run at that time; 0: it had none
  bool operator==(const WorkClaim&) const = default;
};

struct ClaimRequest {
  Scope scope{ClusterId(""), ""};
  std::string worker = {};
  Instant at = {};
  std::chrono::milliseconds lease{0};
  // The newest claim of the scope that the worker knows of, and takes to be over or dead; 0: none.
  // Where there is a newer one, the request is denied.
  std::uint64_t newest_known = 0;
};

// A claim, and the heartbeats of its worker.
struct ClaimState {
  WorkClaim claim = {};
  std::uint64_t heartbeats = 0;  // since it was made
  Instant last_heartbeat = {};   // by the worker's clock; the claim itself is one
  bool is_over = false;          // completed, or released
  bool operator==(const ClaimState&) const = default;
};

// The facts that a run is made of.
struct RunInputs {
  std::uint64_t imports = 0;  // the facts of at least these many
  Hash128 lines = {};         // the scope's charges: PlannedScope::lines
  Hash128 join_rules = {};    // the rules that gave charges to clusters
  Hash128 elsewhere = {};     // the other scopes' runs, which the scope without a cluster reads; {}
                              // where they were not read
  bool operator==(const RunInputs&) const = default;
};

// That a claim led to a run.
struct WorkCompletion {
  std::uint64_t claim = 0;
  Scope scope{ClusterId(""), ""};
  std::uint64_t run = 0;  // the run's number; set by the store
  RunInputs inputs = {};
  Instant began = {}, at = {};  // of the allocation, by the worker's clock
  bool operator==(const WorkCompletion&) const = default;
};

// One scope of a month's plan.
struct PlannedScope {
  ClusterId cluster;
  std::uint64_t count = 0;             // of charges
  Hash128 lines;                       // a fingerprint of their set
  std::optional<Interval> reach = {};  // the time in which facts matter to them; nothing: none
  bool operator==(const PlannedScope&) const = default;
};

// How a month's charges fall into scopes.
struct WorkPlan {
  std::string month;
  std::uint64_t imports = 0;         // the facts of at least these many were read
  Hash128 join_rules;                // the rules that gave charges to clusters
  Instant began = {}, at = {};       // of the planning, by the worker's clock
  std::vector<PlannedScope> scopes;  // those with charges, by cluster
  bool operator==(const WorkPlan&) const = default;
};

// Everything recorded about the work on a ledger, in one state of it.
struct WorkRecords {
  std::uint64_t imports = 0;         // how many there are
  std::vector<ClaimState> claims;    // the newest of each scope, by scope
  std::vector<WorkCompletion> done;  // the newest of each scope, by scope
  std::vector<WorkPlan> plans;       // the newest of each month, by month
  // Only one process can have this ledger open. A claim of another worker that is not over is then
  // of a process that is gone.
  bool is_alone = false;
};

// Why a run that belongs to a claim is not saved. Both are Errors of kConflict.
std::string claim_lost_message(const WorkClaim& mine, const WorkClaim& newest);
std::string run_superseded_message(const WorkClaim& mine, std::uint64_t current);

}  // namespace pennyweight
