// Work: who divides which scope next, where several programs share a ledger.
//
// A scope is an *item*. Somebody *claims* it, divides it, and keeps the run together with a *done*
// record that says which facts it was made of. Claims, runs and done records have one order, and a
// run that belongs to a claim is kept only while that claim is the newest of its scope and no other
// run of the scope was kept since. So whoever was taken for dead and wakes up can neither keep a
// run twice nor put older facts over newer ones. Who may take over a claim is a matter of time and
// is judged by workers (questions/work_items.h), never by the store.
//
// What makes an item due is told by what imports *touched*: a day of a cluster, its machines, the
// bill lines of a month. It is told too broadly rather than too narrowly, since a run too many
// changes nothing, and a run too few is a wrong bill.
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

enum class Touch {
  kLines,        // bill lines of a month came, or were taken back
  kFleet,        // nodes or GPUs of a cluster: they may decide about any of its months
  kDay,          // what was held, seen or out on a day of a cluster
  kCorrections,  // what is corrected on a day of a cluster
};
std::string_view to_text(Touch touch);  // "lines", "fleet", "day", "corrections"
std::optional<Touch> parse_touch(std::string_view text);

// What one import touched.
struct TouchedPlace {
  Touch what;
  ClusterId cluster;          // empty for kLines
  std::chrono::sys_days day;  // in UTC; of kLines the first of the month in which they are booked;
                              // of kFleet 1970-01-01
  auto operator<=>(const TouchedPlace&) const = default;
};
TouchedPlace touched_lines(std::string_view month);  // REQUIRES: "2026-03"

// The imports, of those that were asked for, that touched it.
struct Touched {
  TouchedPlace place;
  std::uint64_t first = 0, last = 0;  // numbers
  Instant first_at;                   // when the first was imported
  bool operator==(const Touched&) const = default;
};

// A set of days, for many ranges that overlap: a bit a day.
class DaySet {
 public:
  // Both inclusive; what lies before 1970 or beyond 2199 counts as the nearest day within.
  void add(std::chrono::sys_days first, std::chrono::sys_days last);
  std::vector<std::chrono::sys_days> days() const;  // sorted

 private:
  std::vector<std::uint64_t> words_;
};

// Collects what the facts of one import touch, kind by kind, since a kind of which nothing was new
// touches nothing. Used by one thread at a time.
class ImportTouches {
 public:
  void see(const Holding& fact) { add(kHoldings, fact.cluster, fact.held); }
  void see(const Node& fact) { add(kNodes, fact.cluster); }
  void see(const Gpu& fact) { add(kGpus, fact.cluster); }
  void see(const Usage& fact);
  void see(const Outage& fact) { add(kOutages, fact.cluster, fact.during); }
  void see(const Correction& fact) { add(kCorrections, fact.cluster, fact.during); }
  void see(const Outcome& /*fact*/) {}  // no run reads them

  // How many facts of each kind were new.
  struct Created {
    std::uint64_t holdings, nodes, gpus, usages, outages, corrections;
  };
  // Sorted, without lines.
  std::vector<TouchedPlace> places(const Created& created) const;

 private:
  enum Kind : std::size_t { kHoldings, kNodes, kGpus, kUsages, kOutages, kCorrections, kKinds };
  using Days = std::unordered_map<std::string, DaySet>;  // by cluster; only looked into
  void add(Kind kind, const ClusterId& cluster);
  void add(Kind kind, const ClusterId& cluster, const Interval& during);

  std::array<Days, kKinds> days_;
  // Of the usage before, which is mostly the next one's.
  std::string usage_cluster_;
  std::optional<std::chrono::sys_days> usage_day_ = {};
};

struct WorkClaim {
  std::uint64_t number = 0;  // 1, 2, … in the ledger: a later claim has a larger one
  Scope scope{ClusterId(""), ""};
  std::string worker = {};             // its name, for people
  Instant at = {};                     // by the worker's clock
  std::chrono::milliseconds lease{0};  // after so much silence it is somebody else's
  std::uint64_t run = 0;               // the number of the scope's current run then; 0: it had none
  bool operator==(const WorkClaim&) const = default;
};

struct ClaimAsked {
  Scope scope{ClusterId(""), ""};
  std::string worker = {};
  Instant at = {};
  std::chrono::milliseconds lease{0};
  // The newest claim of the scope that whoever asks knows of, and holds to be over or dead; 0:
  // none. Where there is a newer one the scope is somebody else's.
  std::uint64_t known = 0;
};

// A claim, and what was heard of it.
struct ClaimState {
  WorkClaim claim = {};
  std::uint64_t signs = 0;  // of life, since it was made
  Instant last_sign = {};   // by the worker's clock; the claim itself is one
  bool over = false;        // done, or given back
  bool operator==(const ClaimState&) const = default;
};

// The facts that a run is made of.
struct WorkSeen {
  std::uint64_t imports = 0;  // at least all of these
  Hash128 lines = {};         // of the scope (PlannedScope::lines)
  Hash128 join_rules = {};    // by which lines were given to clusters
  Hash128 elsewhere = {};  // the other scopes' runs, of the scope of no cluster; {}: none are read
  bool operator==(const WorkSeen&) const = default;
};

struct WorkDone {
  std::uint64_t claim = 0;
  Scope scope{ClusterId(""), ""};
  std::uint64_t run = 0;  // its number; set by the store
  WorkSeen seen = {};
  Instant began = {}, at = {};  // of the dividing, by the worker's clock
  bool operator==(const WorkDone&) const = default;
};

// How a month falls into scopes.
struct PlannedScope {
  ClusterId cluster;
  std::uint64_t count = 0;             // of bill lines
  Hash128 lines;                       // a fingerprint of their set
  std::optional<Interval> reach = {};  // the time in which facts matter to them; nothing: no lines
  bool operator==(const PlannedScope&) const = default;
};
struct WorkPlan {
  std::string month;
  std::uint64_t imports = 0;         // the facts of at least these were read
  Hash128 join_rules;                // by which lines were given to clusters
  Instant began = {}, at = {};       // of the planning, by the worker's clock
  std::vector<PlannedScope> scopes;  // by cluster, those with lines
  bool operator==(const WorkPlan&) const = default;
};

// All that is known of the work on a ledger, in one state of it.
struct WorkBook {
  std::uint64_t imports = 0;       // how many there are
  std::vector<ClaimState> claims;  // the newest of each scope, by scope
  std::vector<WorkDone> done;      // the same
  std::vector<WorkPlan> plans;     // the newest of each month, by month
  // Whoever has the ledger open has it alone: then a claim that is not over, and not one's own, is
  // of a worker that is gone.
  bool is_alone = false;
};

// Why a run that belongs to a claim is not kept; both Errors of kConflict.
std::string claim_is_lost(const WorkClaim& mine, const WorkClaim& newest);
std::string run_came_between(const WorkClaim& mine, std::uint64_t current);

}  // namespace pennyweight
