// LiveLedger: the work of the one thread of `serve` that uses the ledger, in cycles of a few
// seconds.
//
// A cycle
//   1. takes what collectors found into the inventory, and writes what is new into the ledger, at
//   most once every news_every (fact_writer.h);
//   2. writes what the engine has finished, every flush_every (fact_writer.h);
//   3. settles a day once it is over: prices it where it has no bill, and allocates its month anew
//   (day_settlement.h);
//   4. allocates the last minutes in memory for the live view, and every allocate_every today
//   (live_costing.h);
//   5. brings the rollup, which the pages query, up to all changes of the ledger.
// The file of the ledger is only open while it is read or written, so that other verbs work beside
// a running `serve`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "allocation/pricing/rate_card.h"
#include "app/context/log.h"
#include "app/daemon/day_settlement.h"
#include "app/daemon/fact_writer.h"
#include "app/daemon/ledger_counters.h"
#include "app/daemon/live_costing.h"
#include "app/daemon/live_inventory.h"
#include "app/daemon/live_source.h"
#include "app/daemon/pod_signals.h"
#include "app/daemon/serve_audit_log.h"
#include "app/daemon/shared_ledger.h"
#include "app/daemon/unknown_ends.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/interruption.h"
#include "reporting/live/live_table.h"
#include "reporting/queries/work_items.h"
#include "reporting/rollup/rollup.h"
#include "telemetry/live/engine.h"

namespace pennyweight {

// The progress of workers, if there are any.
struct WorkProgress {
  std::map<WorkState, std::uint64_t> items;
  std::optional<Instant> behind_since;  // the first import that a run lacks
};

class LiveLedger {
 public:
  // All outlive this.
  LiveLedger(const Config& config, const Catalog& catalog, const RateCard& card,
             SharedLedger& shared, Clock& clock, Log& log);

  // Makes the ledger where there is none, and loads the inventory.
  Result<void> open();
  const LiveInventory& inventory() const { return inventory_; }
  const GpuLookup& gpu_lookup() const { return gpu_lookup_; }
  const PodSignals& signals() const { return signals_; }
  const DeviceSignals& device_signals() const { return facts_.device_signals(); }

  // From here on cycles may run. The engine and the sources outlive them. Without a rollup none is
  // kept; without an audit log changes are not recorded.
  void begin(live::Engine& engine, StateMetricsSource& state_metrics,
             std::vector<LiveSource*> sources, rollup::Rollup* rollup = nullptr,
             ServeAuditLog* audit_log = nullptr);
  // Runs one cycle. An Error is logged and counted, and loses nothing: what could not be written is
  // tried again.
  void cycle();
  // A cycle that writes everything that is finished, whether it is due or not.
  void last_cycle();

  // As of the last cycle that made one; from any thread. Null before the first.
  std::shared_ptr<const LiveView> view() const;
  // From here on a cycle makes a view only where wants_view(), after the first: nobody pays for
  // views that nobody sees. Otherwise each cycle makes one.
  void make_views_on_demand() { makes_views_on_demand_ = true; }
  // The view, made now where the last one is older than `age_max`: waits for a cycle that makes it,
  // for a moment at most, and gives the last one then. From any thread but that of the cycles.
  std::shared_ptr<const LiveView> fresh_view(std::chrono::milliseconds age_max) const;
  bool wants_view() const;
  // As of the last change of the ledger; from any thread. Nothing where there are no workers.
  std::optional<WorkProgress> work() const;
  // By name, for /metrics; from any thread.
  std::map<std::string, std::uint64_t> counts() const;
  // Whether the last write succeeded; for /readyz.
  bool is_writing() const;
  // Why the rollup is behind the ledger, if its last refresh failed; for /readyz, so without names
  // of files. From any thread.
  struct RollupTrouble {
    Instant failed_at, tries_again_at;
    ErrorCode why;
  };
  std::optional<RollupTrouble> rollup_trouble() const;
  // Ends a refresh of the rollup that is under way, and begins no other: `serve` stops. From any
  // thread.
  void end_refresh() { refreshing_.interrupt(); }

 private:
  bool view_is_due() const;
  void reload_prices();
  bool flush_is_due(Instant now) const;
  bool facts_are_due(Instant now) const;
  // While `serve` stops, nothing is settled or allocated: nobody would see it.
  Result<void> write(bool flush, bool is_stopping = false);
  void tell_overlong_log();
  Result<void> write_into(Store& store, bool flush, bool is_stopping);
  void refresh_rollup(Instant now);
  Result<void> copy_into_rollup(Instant now);
  void save_readings();
  void restore_readings();
  void note_changes();
  void report_unknown_ends(Instant now);
  Result<void> refresh_work_progress(Store& store);
  void record_audit_events(Instant now, bool all);

  const Config& config_;
  // Read again when their files change.
  Catalog catalog_;
  RateCard card_;
  std::map<std::string, std::filesystem::file_time_type> price_files_;
  SharedLedger& shared_;
  Clock& clock_;
  LedgerCounters counters_;
  LiveInventory inventory_;
  PodSignals signals_;
  GpuLookup gpu_lookup_;
  FactWriter facts_;
  DaySettlement settlement_;
  LiveCosting costing_;
  UnknownEnds unknown_ends_;
  Log& log_;
  live::Engine* engine_ = nullptr;
  rollup::Rollup* rollup_ = nullptr;
  ServeAuditLog* audit_log_ = nullptr;
  Interruption refreshing_;
  std::string rollup_mark_;   // the ledger's change mark when the rollup was last refreshed
  int refreshes_failed_ = 0;  // since the last one that didn't
  std::optional<Instant> log_told_at_;  // when it was said that the ledger's log grows
  Instant flushed_at_;
  const std::string readings_file_;
  std::string saved_readings_;
  WorkSnapshot work_snapshot_;

  std::atomic<bool> makes_views_on_demand_ = false;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable view_made_;
  mutable bool wants_view_ = false;
  std::shared_ptr<const LiveView> view_;
  std::optional<WorkProgress> work_;
  bool is_writing_ = true;
  std::optional<RollupTrouble> rollup_trouble_;
};

}  // namespace pennyweight
