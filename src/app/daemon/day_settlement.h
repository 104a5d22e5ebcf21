// DaySettlement: prices and allocates each day (UTC) once it is over.
//
// Nodes that nobody bills are priced, as the verb `price` does it, and the day's month is allocated
// anew, unless workers do that. When something becomes known about a day after that (a source was
// away, telemetry came late), its month is allocated again, whichever month it is, unless it is
// closed. What is settled, and what changed since, outlasts a restart (a file in the live folder).
// A failure is logged and tried again ten minutes later: a price file may be missing, and the live
// view goes on without it.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "allocation/pricing/catalog.h"
#include "allocation/pricing/rate_card.h"
#include "app/context/log.h"
#include "app/daemon/ledger_counters.h"
#include "app/daemon/live_inventory.h"
#include "app/daemon/serve_audit_log.h"
#include "config/config.h"
#include "core/clock.h"

namespace pennyweight {

class DaySettlement {
 public:
  // All outlive this.
  DaySettlement(const Config& config, const Catalog& catalog, const RateCard& card,
                const LiveInventory& inventory, LedgerCounters& counters, Clock& clock, Log& log);

  // Reads what the process before has settled.
  void open();
  // Null: what is priced and allocated is not recorded in the audit log.
  void begin(ServeAuditLog* audit_log) { audit_log_ = audit_log; }

  // Something new is, or is about to be, in the ledger about the time from `since` on.
  void note_change(Instant since);
  // Whether settle() would do something.
  bool is_due(Instant now) const;
  // Settles the day before, and earlier ones that changed, where that is due. True if it was done.
  bool settle(Store& store, Instant now);
  // The end of the last settled day; nothing before the first.
  std::optional<Instant> settled_until() const { return settled_until_; }

 private:
  std::set<std::string> months_to_settle(Instant last_day) const;
  void save();
  Result<void> price_and_allocate(Store& store, const std::string& month, Instant until,
                                  Instant now);
  Result<void> price(Store& store, const std::string& month, Instant until, Instant now);
  Result<void> allocate(Store& store, const std::string& month, Instant now);
  // Records the runs of a month that were made at that instant.
  Result<void> record_runs(Store& store, const std::string& month, Instant at);

  const Config& config_;
  const Catalog& catalog_;
  const RateCard& card_;
  const LiveInventory& inventory_;
  LedgerCounters& counters_;
  Clock& clock_;
  Log& log_;
  ServeAuditLog* audit_log_ = nullptr;
  const std::string state_file_;
  std::optional<Instant> settled_until_;
  bool has_settled_ = false;              // this process
  std::optional<Instant> changed_since_;  // before settled_until_, and not settled again
  Instant settle_changes_at_;             // not before
  Instant retry_at_;
  std::set<std::string> logged_notes_;
};

}  // namespace pennyweight
