// Streams usage in the order in which an allocation reads it: device by device.
#pragma once

#include "core/duckdb/database.h"
#include "ledger/store.h"

namespace pennyweight {

// As Store::scan_usage. Speed and how it is measured: bench/store_usage.cc.
Result<void> scan_usage(duckdb::Database& database, const ClusterId& cluster,
                        const Interval& during, UsageDetail detail, const Store::UsageSink& sink);

}  // namespace pennyweight
