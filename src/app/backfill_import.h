// BackfillImport: the rows of a backfill on their way into the ledger, of which nothing counts
// twice.
//
// What of a row lies outside the window, or in a time that the ledger knows already (see
// KnownTimes), is left out: of what `serve` saw while it ran, and of what was backfilled before,
// nothing is added again. Each flush is one import with a name of its own, and one that is in the
// ledger is not imported again: so after a crash nothing depends on what came into the ledger
// meanwhile.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "config/config.h"
#include "core/clock.h"
#include "live/rows.h"

namespace pennyweight {

struct BackfillTotals {
  std::uint64_t usages = 0;    // rows that are new in the ledger
  std::uint64_t outcomes = 0;  // the same
  std::uint64_t gpus = 0;
  std::uint64_t nodes = 0;
  std::uint64_t usages_known = 0;    // rows of which all or a part was known
  std::uint64_t outcomes_known = 0;  // the same
  std::uint64_t conflicts = 0;       // rows kept aside
};

class BackfillImport {
 public:
  struct Order {
    std::string name;  // of the backfill, unique
    Interval window;
    std::uint64_t generation;  // of the backfill: tells its rows from those of others, below 2^31
  };
  // `config` and `clock` outlive this.
  BackfillImport(const Config& config, Clock& clock, Order order)
      : config_(config), clock_(clock), order_(std::move(order)) {}

  // As live::Importer.
  Result<void> import(const live::Rows& rows);
  // Nodes that nobody told of in that time: as many cards as were seen there. Once all is imported.
  Result<void> tell_nodes();

  const BackfillTotals& totals() const { return totals_; }

 private:
  const Config& config_;
  Clock& clock_;
  Order order_;
  BackfillTotals totals_;
};

}  // namespace pennyweight
