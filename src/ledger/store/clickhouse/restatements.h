// What deliveries took back or restated, and the invoices that were issued: reading.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/store/clickhouse/scan.h"

namespace pennyweight {

Result<std::vector<RetiredCharge>> clickhouse_retired_charges(const Scan& scan,
                                                              const std::string& month);
Result<std::vector<Charge>> clickhouse_restated_charges(const Scan& scan, const std::string& month);
Result<std::vector<IssuedInvoice>> clickhouse_issued_invoices(const Scan& scan);

}  // namespace pennyweight
