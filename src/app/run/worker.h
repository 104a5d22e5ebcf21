// Worker: allocates scopes that are due, one at a time, beside other workers on the same ledger.
//
// A step reads the state of the work (reporting/queries/work_items.h). It plans a month, or claims
// and allocates the scope whose run knows the oldest facts, or does nothing. A worker may take over
// a claim that has been silent for its lease, measured by this worker's own clock since it saw the
// last heartbeat, or whose last heartbeat is older than a lease and kSkew by any clock. Correctness
// never depends on that: the store commits no run whose claim is not the newest.
//
// Facts come every minute and runs are kept forever, so a scope is allocated rarely enough to take
// a tenth of the time at most, except with `once`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "app/context/log.h"
#include "app/run/allocate_month.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/queries/ledger_month.h"
#include "reporting/queries/work_items.h"

namespace pennyweight {

struct WorkerOptions {
  std::string name;  // unique among the workers of the ledger
  std::chrono::milliseconds lease{60'000};
  unsigned threads = 1;
  bool once = false;
};

// Calls into the worker's surroundings. All may be empty.
struct WorkerHooks {
  // When a claim is taken, and with null when it is over. The callee renews it in between.
  std::function<void(const WorkClaim*)> on_claim = {};
  // Before a run is committed; an Error discards it.
  std::function<Result<void>()> before_commit = {};
  std::function<Result<void>(const AllocatedScope&)> on_run = {};
};

class Worker {
 public:
  enum class Step {
    kAllocated,   // a scope, unless another worker was faster
    kPlanned,     // a month
    kWaiting,     // something is due but not available: it is claimed, rests, or has failed
    kNothingDue,  // nothing is due
  };

  // REQUIRES: all arguments outlive it.
  Worker(const Config& config, const Catalog& catalog, WorkerOptions options, WorkerHooks hooks,
         Clock& clock, Log& log);

  // Fails with an Error of the ledger as a whole. When a single scope fails, it is logged, its
  // claim is given back, and other scopes are allocated before it is tried again. REQUIRES: always
  // the same ledger.
  Result<Step> step(Store& store);
  // The number of scopes that failed so often in a row that `once` gives them up.
  std::size_t given_up() const;

 private:
  struct ObservedClaim {  // of another worker
    std::uint64_t heartbeats = 0;
    Instant since = {};
  };
  struct Failure {
    std::uint64_t times = 0;
    Instant again_at = {};
  };
  struct LoadedMonth {
    LedgerMonth month;
    std::uint64_t imports = 0;  // at least the facts of these are loaded
    std::vector<PlannedScope> planned = {};
    std::set<ClusterId> taken = {};
  };

  void observe_claims();
  bool is_abandoned(const ClaimState& state) const;
  bool is_for_later(const WorkItem& item) const;
  bool waits_for_others(const WorkItem& item, const std::vector<WorkItem>& items) const;
  bool is_available(const WorkItem& item, const std::vector<WorkItem>& items) const;
  bool is_resting(Instant began, Instant at) const;
  bool has_failed(const Scope& scope) const;
  void record_failure(const Scope& scope, const Error& error);
  Result<void> load(Store& store, const std::string& month);
  Result<void> plan(Store& store, const std::string& month);
  Result<bool> plan_next(Store& store, const std::vector<WorkItem>& items, bool& waits);
  void note_waiting(const std::vector<WorkItem>& items);
  Result<Step> claim_and_allocate(Store& store, const WorkItem& item);
  Result<AllocatedScope> allocate_item(Store& store, const WorkItem& item, const WorkClaim& claim);
  const WorkItem* choose_item(const std::vector<WorkItem>& items) const;

  const Config& config_;
  const Catalog& catalog_;
  WorkerOptions options_;
  WorkerHooks hooks_;
  Clock& clock_;
  Log& log_;
  WorkCriteria criteria_;
  WorkSnapshot snapshot_;
  std::optional<LoadedMonth> loaded_;
  std::map<std::uint64_t, ObservedClaim> observed_claims_;  // by claim number
  std::map<Scope, Failure> failures_;
  std::set<Scope> allocated_;
  std::map<Scope, Instant> waiting_since_;     // of scopes of no cluster
  std::optional<std::uint64_t> once_imports_;  // with `once`, later imports are left to the next
                                               // one
};

}  // namespace pennyweight
