// Exports the charges of a month in FOCUS, as billed or as their current runs allocate them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/instant.h"
#include "ledger/store.h"
#include "reporting/export/focus_column.h"
#include "reporting/export/focus_file.h"
#include "reporting/export/focus_metadata.h"

namespace pennyweight {

struct MonthExportOptions {
  FocusVersion version = FocusVersion::k1_4;
  FocusFormat format = FocusFormat::kCsv;
  std::string month;            // "2026-03"
  Interval period;              // the month's
  std::string path;             // of the file; temporary files lie beside it
  bool is_allocated = true;     // false: as billed
  std::vector<std::string> by;  // the owners' dimensions; empty: by workload
  bool with_transfers = false;
};

struct MonthExport {
  std::vector<FocusColumn> columns;
  std::uint64_t rows = 0;
  std::uint64_t charges = 0;
  std::uint64_t unallocated = 0;  // charges that no run has allocated; written whole
  std::uint64_t retired = 0;      // allocated charges that are no longer in the ledger; left out
  std::uint64_t parted = 0;       // charges whose effective cost is a row of its own
  // Charges by column, where the file differs from the bill: see FocusDefaults, NullRules and
  // FocusTable.
  std::map<std::string, std::uint64_t> filled, emptied, unreadable, rounded, replaced;
};

// `methods` are the month's current runs. An Error of kNotFound where the month has no charges.
Result<MonthExport> export_month(Store& store, const MonthExportOptions& options,
                                 std::span<const AllocationMethod> methods);

}  // namespace pennyweight
