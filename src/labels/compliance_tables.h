// Compliance as tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "labels/compliance.h"
#include "report/table.h"

namespace pennyweight {

// A row for each key and status; one table a currency. `what` is the month, or "all months".
std::vector<Table> label_tables(std::span<const CurrencyCompliance> all, const std::string& what);
// A row for each key and period.
std::vector<Table> label_period_tables(std::span<const CurrencyCompliance> all,
                                       const std::string& what);
// The `top` most expensive of each key.
std::vector<Table> label_offender_tables(std::span<const CurrencyCompliance> all,
                                         const std::string& what, std::uint64_t top);

}  // namespace pennyweight
