// Bill lines beside the sums of their postings, computed by the engine.
#pragma once

#include <string>
#include <vector>

#include "core/duckdb/database.h"
#include "ledger/store.h"

namespace pennyweight {

// As Store::reconcile.
Result<std::vector<ReconcileTotals>> reconcile(duckdb::Connection& connection,
                                               const std::string& month, bool only_off,
                                               const Store::LineSink& sink);

}  // namespace pennyweight
