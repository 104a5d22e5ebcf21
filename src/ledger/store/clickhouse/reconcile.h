// Bill lines beside their postings: Store::reconcile on ClickHouse.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/store/clickhouse/scan.h"

namespace pennyweight {

Result<std::vector<ReconcileTotals>> reconcile_clickhouse(const Scan& scan,
                                                          const std::string& month, bool only_off,
                                                          const Store::LineSink& sink);

}  // namespace pennyweight
