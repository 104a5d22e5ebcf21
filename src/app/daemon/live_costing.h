// LiveCosting: the cost of what runs now: the last minutes and today, allocated in memory.
//
// Not thread-safe: it belongs to the ledger's thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

  // Allocates today from the ledger, so seldom that it takes a tenth of the time at most, and at
  // once when a day begins. A cluster that fails keeps what it had. The same for the time between
  // `settled_until` and today: the day that ended is not in the ledger before it is settled.
  void allocate_today(Store& store, Instant now, std::optional<Instant> settled_until);
  // Reads what each workload cost this month before today, as far as that is in the ledger.
  Result<void> read_earlier_costs(Store& store, Instant now);
  // Lets the next allocate_today() be due.
  void forget_today() { today_allocated_at_ = {}; }
  // The local day of the last read_earlier_costs() is over.
  bool is_earlier_outdated(Instant now) const;

  // What the workloads of these holdings would have cost from their last reading to gone_by, had
  // they run until then. Nothing where a node has no price.
  std::vector<std::optional<Money>> cost_of(std::span<const UnknownEnd> ends) const;
  // Shows a note beside the live costs of a cluster, until the month is over.
  void add_note(const ClusterId& cluster, std::string note) { notes_[cluster] = std::move(note); }

  // Allocates the last minutes and puts today and the days before beside them. Null in the first
  // instant of a day. A cluster that fails is left out.
  std::shared_ptr<const LiveView> make_view(Instant now);

 private:
  Result<LiveCosts> allocate_window(const ClusterId& cluster, const Interval& window,
                                    const std::vector<Gpu>& gpus,
                                    UtilizationSource utilization) const;
  Result<LiveCosts> allocate_window(const ClusterId& cluster, const Interval& window,
                                    const std::vector<Gpu>& gpus,
                                    const std::vector<Holding>& holdings,
                                    UtilizationSource utilization, bool by_place) const;
  Result<LiveCosts> allocate_recent(const ClusterId& cluster, const Interval& window) const;

  const Config& config_;
  const Catalog& catalog_;
  const RateCard& card_;
  const LiveInventory& inventory_;
  LedgerCounters& counters_;
  Clock& clock_;
  const live::Engine* engine_ = nullptr;
  void combine_earlier();

  std::map<ClusterId, LiveCosts> today_;
  Instant today_begin_;
  Instant today_allocated_at_;
  std::chrono::milliseconds today_took_{0};
  std::map<ClusterId, EarlierCosts> in_ledger_;  // of this month, before today
  std::map<ClusterId, EarlierCosts> unsettled_;  // the same, where the ledger ends before today
  std::map<ClusterId, std::shared_ptr<const EarlierCosts>> earlier_;  // both together
  std::optional<Instant> earlier_before_;                             // of which midnight
  std::map<ClusterId, std::string> notes_;
};

}  // namespace pennyweight
