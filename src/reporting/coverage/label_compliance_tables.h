// Label compliance as tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reporting/coverage/label_compliance.h"
#include "reporting/table.h"

namespace pennyweight {

// One table per currency, with a row for each key and status. `period_label` is the month, or "all
// months".
std::vector<Table> label_tables(std::span<const CurrencyCompliance> all,
                                const std::string& period_label);
// A row for each key and time bucket.
std::vector<Table> label_period_tables(std::span<const CurrencyCompliance> all,
                                       const std::string& period_label);
// The `top` largest offenders of each key.
std::vector<Table> label_offender_tables(std::span<const CurrencyCompliance> all,
                                         const std::string& period_label, std::uint64_t top);

}  // namespace pennyweight
