// Streams activity as it lies in the file: scan_activity() on DuckDB.
#pragma once

#include "core/duckdb/database.h"
#include "ledger/activity_scan.h"

namespace pennyweight {

// As ActivityScanner::scan_activity. Speed and how it is measured: bench/advise.cc.
Result<void> scan_duckdb_activity(duckdb::Database& database, const ClusterId& cluster,
                                  const Interval& during, const ActivitySink& sink);

}  // namespace pennyweight
