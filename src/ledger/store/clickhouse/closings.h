// The accounts of a month over time: closing it, and issuing invoices.
#pragma once

#include <set>
#include <span>
#include <string>

#include "core/error.h"
#include "ledger/store.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {

// The months that are closed.
Result<std::set<std::string>> closed_months(ClickhouseDatabase& database, const Snapshot& ledger);

// As Store::close_month and Store::issue_invoices. `open`: whether a session is open in the store.
Result<Closing> close_clickhouse_month(ClickhouseDatabase& database, bool& open,
                                       const Closing& asked);
Result<void> issue_clickhouse_invoices(ClickhouseDatabase& database, bool& open,
                                       std::span<const IssuedInvoice> invoices);

}  // namespace pennyweight
