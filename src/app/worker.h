// Worker: divides what is due, one scope at a time, beside other workers of the same ledger.
//
// A step looks at the ledger (questions/work_items.h), and plans a month, or claims the item whose
// run knows the oldest facts and divides it, or does nothing. Who may take over another's claim is
// judged here: one of which nothing was heard for its lease, by this worker's own clock from when
// it first saw the last sign; or whose last sign is older than a lease and kSkew by anybody's
// clock. What counts never hangs on that: the store keeps no run whose claim is not the newest.
//
// An item is divided so seldom that it takes a tenth of the time at most, since runs are kept for
// ever, and facts come every minute; not so with `once`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/allocate_month.h"
#include "app/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"
#include "pricing/catalog.h"
#include "questions/ledger_month.h"
#include "questions/work_items.h"

namespace pennyweight {

struct WorkerOptions {
  std::string name;  // nobody else's
  std::chrono::milliseconds lease{60'000};
  unsigned threads = 1;
  bool once = false;
};

// What the world has to do with it. All may be empty.
struct WorkerHooks {
  // While a claim is held; null: it is over. Whoever is told renews it meanwhile.
  std::function<void(const WorkClaim*)> holds = {};
  // Before a run is kept; an Error ends it there.
  std::function<Result<void>()> may_keep = {};
  std::function<Result<void>(const AllocatedScope&)> divided = {};
};

class Worker {
 public:
  enum class Step {
    kDivided,  // an item; or it was somebody else's in the end
    kPlanned,  // a month
    kWaits,    // something is due that can't be had now: it is claimed, rests, or failed
    kNothing,  // nothing is due
  };

  // All outlive it.
  Worker(const Config& config, const Catalog& catalog, WorkerOptions options, WorkerHooks hooks,
         Clock& clock, Log& log);

  // An Error of the ledger as a whole. What fails of one item is told by the log, the claim is
  // given back, and others are divided before it is tried again. REQUIRES: always the same ledger.
  Result<Step> step(Store& store);
  // Items that failed so often, one after the other, that `once` gives them up.
  std::size_t given_up() const;

 private:
  struct Heard {  // of a claim that is not ours
    std::uint64_t signs = 0;
    Instant since = {};
  };
  struct Failed {
    std::uint64_t times = 0;
    Instant again_at = {};
  };
  struct Loaded {
    LedgerMonth month;
    std::uint64_t imports = 0;  // the facts of at least these are in it
    std::vector<PlannedScope> planned = {};
    std::set<ClusterId> handed_over = {};
  };

  void listen();
  bool is_dead(const ClaimState& state) const;
  bool is_for_later(const WorkItem& item) const;
  bool waits_for_others(const WorkItem& item, const std::vector<WorkItem>& items) const;
  bool may_be_had(const WorkItem& item, const std::vector<WorkItem>& items) const;
  bool rests(Instant began, Instant at) const;
  bool has_failed(const Scope& scope) const;
  void failed(const Scope& scope, const Error& error);
  Result<void> load(Store& store, const std::string& month);
  Result<void> plan(Store& store, const std::string& month);
  Result<Step> claim_and_divide(Store& store, const WorkItem& item);
  Result<AllocatedScope> divide(Store& store, const WorkItem& item, const WorkClaim& claim);
  const WorkItem* next(const std::vector<WorkItem>& items) const;

  const Config& config_;
  const Catalog& catalog_;
  WorkerOptions options_;
  WorkerHooks hooks_;
  Clock& clock_;
  Log& log_;
  WorkRules rules_;
  WorkLook look_;
  std::optional<Loaded> loaded_;
  std::map<std::uint64_t, Heard> heard_;  // by claim
  std::map<Scope, Failed> failed_;
  std::set<Scope> divided_;
  std::map<Scope, Instant> waiting_since_;     // of scopes of no cluster
  std::optional<std::uint64_t> once_imports_;  // with `once`, later ones are the next one's work
};

}  // namespace pennyweight
