// The books of a month over time: closings, lines that deliveries took back, issued invoices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/duckdb/database.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

// Whether a month is closed.
Result<bool> is_closed(duckdb::Connection& connection, const std::string& month);
// Within a transaction of the caller's.
Result<Closing> close_month(duckdb::Connection& connection, const Closing& asked);
Result<std::vector<Closing>> closings(duckdb::Connection& connection);

Result<std::vector<RetiredCharge>> retired_charges(duckdb::Connection& connection,
                                                   const std::string& month);
Result<std::vector<Charge>> restated_charges(duckdb::Connection& connection,
                                             const std::string& month);

// Within a transaction of the caller's.
Result<void> issue_invoices(duckdb::Connection& connection,
                            std::span<const IssuedInvoice> invoices);
Result<std::vector<IssuedInvoice>> issued_invoices(duckdb::Connection& connection);

}  // namespace pennyweight
