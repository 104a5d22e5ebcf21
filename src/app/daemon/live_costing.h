// LiveCosting: the cost of what runs now: the last minutes and today, allocated in memory.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "allocation/pricing/rate_card.h"
#include "app/daemon/ledger_counters.h"
#include "app/daemon/live_inventory.h"
#include "config/config.h"
#include "core/clock.h"
#include "reporting/live/live_table.h"
#include "telemetry/live/engine.h"

namespace pennyweight {

class LiveCosting {
 public:
  // All outlive this.
  LiveCosting(const Config& config, const Catalog& catalog, const RateCard& card,
              const LiveInventory& inventory, LedgerCounters& counters, Clock& clock)
      : config_(config),
        catalog_(catalog),
        card_(card),
        inventory_(inventory),
        counters_(counters),
        clock_(clock) {}

  // The engine outlives this.
  void begin(const live::Engine& engine) { engine_ = &engine; }

  // Allocates today from the ledger, so seldom that it takes a tenth of the time at most. A cluster
  // that fails keeps what it had.
  void allocate_today(Store& store, Instant now);
  // Reads what each workload cost this month before today.
  Result<void> read_earlier_costs(Store& store, Instant now);

  // Allocates the last minutes and puts today and the days before beside them. Null in the first
  // instant of a day. A cluster that fails is left out.
  std::shared_ptr<const LiveView> make_view(Instant now);

 private:
  Result<LiveCosts> allocate_window(const ClusterId& cluster, const Interval& window,
                                    const std::vector<Gpu>& gpus,
                                    UtilizationSource utilization) const;
  Result<LiveCosts> allocate_recent(const ClusterId& cluster, const Interval& window) const;

  const Config& config_;
  const Catalog& catalog_;
  const RateCard& card_;
  const LiveInventory& inventory_;
  LedgerCounters& counters_;
  Clock& clock_;
  const live::Engine* engine_ = nullptr;
  std::map<ClusterId, LiveCosts> today_;
  Instant today_allocated_at_;
  std::chrono::milliseconds today_took_{0};
  // Of this month, before today.
  std::map<ClusterId, std::map<WorkloadId, Money>> earlier_;
};

}  // namespace pennyweight
