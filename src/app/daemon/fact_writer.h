// FactWriter: writes into the ledger what the sources collected and what the engine has finished.
//
// A fact stays here until the ledger has it, so a failed write loses nothing: the next one tries
// again. Only then do the sources learn that their facts are stored.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/context/log.h"
#include "app/daemon/device_signals.h"
#include "app/daemon/ledger_counters.h"
#include "app/daemon/live_inventory.h"
#include "app/daemon/live_source.h"
#include "app/daemon/pod_signals.h"
#include "app/daemon/serve_audit_log.h"
#include "core/clock.h"
#include "telemetry/live/engine.h"

namespace pennyweight {

class FactWriter {
 public:
  // All outlive this.
  FactWriter(LiveInventory& inventory, PodSignals& signals, LedgerCounters& counters, Clock& clock,
             Log& log)
      : inventory_(inventory), signals_(signals), counters_(counters), clock_(clock), log_(log) {}

  // The engine and the sources outlive this. Null: imports are not recorded in the audit log.
  void begin(live::Engine& engine, StateMetricsSource& state_metrics,
             std::vector<LiveSource*> sources, ServeAuditLog* audit_log);

  // Takes what is new from all sources into the inventory, and keeps what the ledger needs of it.
  void collect();
  bool has_unwritten_facts() const { return !unwritten_.empty(); }
  // Keeps for the ledger what take() of the inventory kept back: all readings, or those of holdings
  // whose end nobody saw.
  void keep_readings(bool all);
  void keep_rejected(std::vector<RejectedRow> rows);
  // The earliest instant about which something new was written since the last call.
  std::optional<Instant> take_changed_since();
  // Tells the sources that what they gave is stored. REQUIRES: no unwritten facts.
  void confirm_sources();

  // Lets workloads whose end nobody saw count up to where the ledger's telemetry saw them.
  Result<void> extend_vanished(Store& store);
  Result<void> write_facts(Store& store);
  // Flushes the engine; with `is_last` also what may still come out of order.
  Result<void> write_rows(Store& store, bool is_last);
  // Nodes that telemetry shows and no source reports, each with as many GPUs as were seen on it.
  Result<void> add_nodes_seen_in_telemetry(Store& store);

  // Nothing before the first.
  std::optional<Instant> facts_written_at() const { return facts_written_at_; }
  // The engine has more rows than one flush takes.
  bool has_more_rows() const { return has_more_rows_; }
  const DeviceSignals& device_signals() const { return device_signals_; }

 private:
  void collect_from(CollectedFacts collected, LiveSource* source, std::string_view kind);
  Result<void> import_rows(Store& store, const live::FlushRows& rows);
  void note_usages(std::span<const Usage> usages);
  void extend_vanished_by(const Usage& usage);
  void record_import(const ImportOutcome& outcome);

  LiveInventory& inventory_;
  PodSignals& signals_;
  DeviceSignals device_signals_;
  LedgerCounters& counters_;
  Clock& clock_;
  Log& log_;
  live::Engine* engine_ = nullptr;
  StateMetricsSource* state_metrics_ = nullptr;
  std::vector<LiveSource*> sources_;
  ServeAuditLog* audit_log_ = nullptr;
  std::vector<CollectedFacts> unwritten_;
  std::vector<LiveSource*> unconfirmed_;  // sources of what is unwritten, or just written
  std::optional<Instant> facts_written_at_;
  bool has_more_rows_ = false;
  std::set<std::string> logged_problems_;
  std::optional<Instant> rows_since_;  // the earliest of the usages since take_changed_since()
};

}  // namespace pennyweight
