// One scope allocated: from the facts of the ledger to a run that is committed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/allocate.h"
#include "allocate/distribute.h"
#include "ledger/store.h"
#include "ledger/work.h"
#include "questions/ledger_month.h"

namespace pennyweight {

// A claim, where the run belongs to one (ledger/work.h).
struct ClaimedWork {
  const WorkClaim& claim;
  WorkSeen seen;  // at least these facts are read
  Instant began;
  // Called before anything is kept, and gives the time; an Error ends it there.
  std::function<Result<Instant>()> before_keeping;
};

struct ScopeRules {
  const Policy& policy;
  const Catalog& catalog;
  unsigned threads;
  std::span<const JoinRule> join_rules;  // which have passed check_join_rule
  Instant at;                            // when the run is made
  std::optional<Interval> changed;       // only bill lines that overlap it are divided again
  const ClaimedWork* work = nullptr;     // of one scope alone
};

// What one run did.
struct AllocatedScope {
  Run run;
  std::uint64_t lines = 0;
  bool unchanged = false;  // the current run said the same already
  std::map<Currency, std::map<PostingKind, Money>> effective;  // without transfers
  std::map<Currency, Money> moved;                             // by transfers, to owners
  GpuTime gpu_time;                                            // held
  GpuTime observed_time;                                       // of it
  std::vector<std::string> notes;
};

// Where `rules.changed` says so and the current run was made by the same rules, postings of other
// bill lines are kept in the store; the run is the same as a full one. `elsewhere` is what the
// owners of the month's clusters paid, for the scope of no cluster; for a cluster, its owners are
// added to it where `elsewhere_wanted`.
Result<AllocatedScope> allocate_scope(Store& store, LedgerMonth& month, const ClusterId& cluster,
                                      const ScopeRules& rules, bool elsewhere_wanted,
                                      std::vector<DistributionInput::Elsewhere>& elsewhere);

// The same of all clusters, from their runs in the ledger instead of while they are divided.
// REQUIRES: no lines of `month` were handed over.
Result<std::vector<DistributionInput::Elsewhere>> elsewhere_in(Store& store,
                                                               const LedgerMonth& month);

// Every scope of a month, that of no cluster last: its tax and support may be spread over the
// owners of all clusters.
Result<std::vector<AllocatedScope>> allocate_whole_month(Store& store, LedgerMonth& month,
                                                         const ScopeRules& rules);

}  // namespace pennyweight
