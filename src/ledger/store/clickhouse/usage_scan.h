// Streams usage, one GPU after another: Store::scan_usage on ClickHouse.
#pragma once

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/store/clickhouse/scan.h"

namespace pennyweight {

Result<void> scan_clickhouse_usage(const Scan& scan, const ClusterId& cluster,
                                   const Interval& during, UsageDetail detail,
                                   const Store::UsageSink& sink);

}  // namespace pennyweight
