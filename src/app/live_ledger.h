// LiveLedger: the one thread of `serve` that has the ledger, and what it does there.
//
// A cycle, every few seconds:
//   1. what collectors saw goes into the book, and what of it is news into the ledger, not more
//      often than every news_every;
//   2. every flush_every, what the engine has finished goes into the ledger;
//   3. the last minutes are divided, in memory, for the view; every allocate_every today;
//   4. once a day is over, it is priced where it has no bill, and the month is divided anew;
//   5. what anybody changed of the ledger goes into the rollup that the pages ask.
// The ledger's file is open only while something is written or read, so that other verbs work
// beside a running `serve`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/live_book.h"
#include "app/live_source.h"
#include "app/log.h"
#include "app/serve_trail.h"
#include "app/shared_ledger.h"
#include "config/config.h"
#include "core/clock.h"
#include "live/engine.h"
#include "live/view/live_table.h"
#include "pricing/catalog.h"
#include "pricing/rate_card.h"
#include "questions/work_items.h"
#include "rollup/rollup.h"

namespace pennyweight {

// How far workers are, where there are any.
struct WorkProgress {
  std::map<WorkState, std::uint64_t> items;
  std::optional<Instant> behind_since;  // when the first import came that one of them lacks
};

class LiveLedger {
 public:
  // All outlive this.
  LiveLedger(const Config& config, const Catalog& catalog, const RateCard& card,
             SharedLedger& shared, Clock& clock, Log& log);

  // Makes the ledger where there is none, and reads what it knows.
  Result<void> open();
  const LiveBook& book() const { return book_; }
  const KnownNow& known() const { return known_; }

  // From here on cycles may run. The engine and the sources outlive them.
  // Null: no rollup is kept; nobody is told what was changed.
  void begin(live::Engine& engine, StateMetricsSource& state_metrics,
             std::vector<LiveSource*> sources, rollup::Rollup* rollup = nullptr,
             ServeTrail* trail = nullptr);
  // One cycle. An Error is told by the log and counted, and nothing is lost: what could not be
  // written is tried again.
  void cycle();
  // A cycle that writes all that is finished, whatever the time.
  void last_cycle();

  // As of the last cycle; from any thread. Null before the first.
  std::shared_ptr<const LiveView> view() const;
  // As of when the ledger was changed last; from any thread. Nothing where no worker divides.
  std::optional<WorkProgress> work() const;
  // By name, for /metrics; from any thread.
  std::map<std::string, std::uint64_t> counts() const;
  // Whether the last write succeeded; for /readyz.
  bool is_writing() const;

 private:
  struct Unwritten {  // facts that the ledger has not got
    std::vector<Collected> facts;
    std::vector<LiveSource*> of;
  };

  void collect();
  bool flush_is_due(Instant now) const;
  bool news_is_due(Instant now) const;
  // While ending nothing is divided: nobody will look.
  Result<void> write(bool flush, bool ending = false);
  Result<void> write_into(Store& store, bool flush, bool ending);
  Result<void> write_facts(Store& store);
  Result<void> write_rows(Store& store);
  Result<void> import_rows(Store& store, const live::Rows& rows);
  Result<void> tell_nodes_of_telemetry(Store& store);
  Result<void> settle_days(Store& store, Instant now);
  Result<void> price_and_allocate(Store& store, const std::string& month, Instant now);
  Result<void> read_earlier(Store& store, Instant now);
  void keep_up();
  Result<void> look_at_workers(Store& store);
  void tell(Instant now, bool all);
  void imported(const ImportOutcome& outcome);
  // The runs of a month that were made at that instant.
  Result<void> tell_runs(Store& store, const std::string& month, Instant at);
  void look(Instant now);
  Result<LiveCosts> divide(const ClusterId& cluster, const Interval& window,
                           const std::vector<Gpu>& gpus, SeenSource seen) const;
  Result<LiveCosts> divide_recent(const ClusterId& cluster, const Interval& window) const;
  Result<void> divide_today(Store& store, Instant now);
  SeenSource seen_in(std::vector<Usage> usages, std::vector<Gpu> gpus) const;
  void count(const std::string& name, std::uint64_t by = 1);
  void failed(std::string_view doing, const Error& error);

  const Config& config_;
  const Catalog& catalog_;
  const RateCard& card_;
  SharedLedger& shared_;
  Clock& clock_;
  Log& log_;
  LiveBook book_;
  KnownNow known_;
  live::Engine* engine_ = nullptr;
  StateMetricsSource* state_metrics_ = nullptr;
  std::vector<LiveSource*> sources_;
  rollup::Rollup* rollup_ = nullptr;
  ServeTrail* trail_ = nullptr;
  std::string kept_up_;  // the ledger's mark when the rollup was brought up to it
  Unwritten unwritten_;
  Instant flushed_at_;
  std::optional<Instant> told_news_at_;
  Instant divided_at_;
  std::chrono::milliseconds dividing_took_{0};
  std::string settled_day_;  // the last that is over, priced and divided
  Instant settle_again_at_;
  bool rows_wait_ = false;  // the engine has more than a flush takes
  std::map<ClusterId, LiveCosts> today_;
  std::map<ClusterId, std::map<WorkloadId, Money>> earlier_;  // of this month, before today
  std::set<std::string> told_problems_;
  WorkLook work_look_;

  mutable std::mutex mutex_;  // of the following
  std::shared_ptr<const LiveView> view_;
  std::map<std::string, std::uint64_t> counts_;
  std::optional<WorkProgress> work_;
  bool is_writing_ = true;
};

}  // namespace pennyweight
