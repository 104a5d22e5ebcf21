// DaySettlement: prices and allocates each day once it is over.
//
// Nodes that nobody bills are priced, as the verb `price` does it, and the day's month is allocated
// anew, unless workers do that. A failure is logged and tried again ten minutes later: a price file
// may be missing, and the live view goes on without it.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

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
                const LiveInventory& inventory, LedgerCounters& counters, Clock& clock, Log& log)
      : config_(config),
        catalog_(catalog),
        card_(card),
        inventory_(inventory),
        counters_(counters),
        clock_(clock),
        log_(log) {}

  // Null: what is priced and allocated is not recorded in the audit log.
  void begin(ServeAuditLog* audit_log) { audit_log_ = audit_log; }

  // Settles the day before where that is due. True if it was settled now.
  bool settle(Store& store, Instant now);

 private:
  Result<void> price_and_allocate(Store& store, const std::string& month, Instant now);
  Result<void> price(Store& store, const std::string& month, Instant now);
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
  std::string last_settled_day_;  // "2026-03-01"
  Instant retry_at_;
  std::set<std::string> logged_notes_;
};

}  // namespace pennyweight
