// Allocates one scope of the ledger: reads its facts, divides them and commits a run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/allocate.h"
#include "allocation/distribute.h"
#include "ledger/store.h"
#include "ledger/work.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {

// The claim that a run belongs to (ledger/work.h).
struct ClaimedWork {
  const WorkClaim& claim;
  RunInputs inputs;  // the run reads at least these facts
  Instant began;
  // Called before anything is stored; returns the time. An Error ends the run.
  std::function<Result<Instant>()> before_commit;
  // Where the claim is lost the run is saved without it, as one that nobody claimed.
  bool may_lose_claim = false;
};

struct RunSettings {
  const Policy& policy;
  const Catalog& catalog;
  unsigned threads;
  std::span<const JoinRule> join_rules;  // REQUIRES: they have passed check_join_rule
  Instant at;                            // the time of the run
  std::optional<Interval> changed;       // limits the run to charges that overlap it
  const ClaimedWork* work = nullptr;     // for a run of a single scope
  // How many imports there were before the month was loaded. With it, runs of a whole month record
  // that they read these (ledger/work.h), so that nobody takes them for older than they are.
  std::optional<std::uint64_t> imports_read = {};
};

// The outcome of one run.
struct AllocatedScope {
  Run run;
  std::uint64_t lines = 0;
  bool unchanged = false;  // the current run is the same already
  std::map<Currency, std::map<PostingKind, Money>> effective;  // without transfers
  std::map<Currency, Money> moved;                             // moved to owners by transfers
  GpuTime gpu_time;                                            // held
  GpuTime observed_time;                                       // of gpu_time
  std::vector<std::string> notes;
};

// With `settings.changed`, and if the current run was made by the same rules, the store keeps the
// postings of all other charges; the result is the same as that of a full run. For the scope of no
// cluster, `other_scopes` is what the owners of the month's clusters paid. For a cluster, its
// owners are added to it if `wants_other_scopes`.
Result<AllocatedScope> allocate_scope(Store& store, LedgerMonth& month, const ClusterId& cluster,
                                      const RunSettings& settings, bool wants_other_scopes,
                                      std::vector<DistributionInput::OtherScopeCost>& other_scopes);

// The same for all clusters, from their stored runs. REQUIRES: no charges of `month` were taken.
Result<std::vector<DistributionInput::OtherScopeCost>> other_scope_costs(Store& store,
                                                                         const LedgerMonth& month);

// Allocates every scope of a month. The scope of no cluster comes last: its tax and support may be
// spread over the owners of all clusters.
Result<std::vector<AllocatedScope>> allocate_whole_month(Store& store, LedgerMonth& month,
                                                         const RunSettings& rules);

}  // namespace pennyweight
