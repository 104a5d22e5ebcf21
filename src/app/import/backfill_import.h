// BackfillImport: imports the rows of a backfill into the ledger, so that nothing counts twice.
//
// Left out is what lies outside the window, or in time that the ledger already covers
// (CoveredIntervals): what `serve` saw while it ran, and what was backfilled before. Each flush is
// one import with a name of its own, and one that the ledger has is not imported again. So after a
// crash it does not matter what came into the ledger meanwhile.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "config/config.h"
#include "core/clock.h"
#include "telemetry/live/flush_rows.h"

namespace pennyweight {

struct BackfillTotals {
  std::uint64_t usages = 0;    // rows that are new in the ledger
  std::uint64_t outcomes = 0;  // the same
  std::uint64_t gpus = 0;
  std::uint64_t nodes = 0;
  std::uint64_t usages_covered = 0;    // rows of which all or a part was covered
  std::uint64_t outcomes_covered = 0;  // the same
  std::uint64_t conflicts = 0;         // rows set aside
};

class BackfillImport {
 public:
  struct Order {
    std::string name;  // of the backfill, unique
    Interval window;
    std::uint64_t generation;  // distinguishes the rows of backfills, below 2^31
  };
  // `config` and `clock` outlive this.
  BackfillImport(const Config& config, Clock& clock, Order order)
      : config_(config), clock_(clock), order_(std::move(order)) {}

  // A live::RowImporter.
  Result<void> import(const live::FlushRows& rows);
  // Adds the nodes that no source reported in that time, each with as many GPUs as were seen on it.
  // Call it once all rows are imported.
  Result<void> add_unreported_nodes();

  const BackfillTotals& totals() const { return totals_; }

 private:
  const Config& config_;
  Clock& clock_;
  Order order_;
  BackfillTotals totals_;
};

}  // namespace pennyweight
