// Tables that compare the estimate at list prices with the bill.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reporting/coverage/estimate_comparison.h"
#include "reporting/table.h"

namespace pennyweight {

// One table per currency, with at most `top` rows; the totals include every row. `period_label` is
// the month, or "all months". `with_hours` adds the hours present and billed, for programs.
std::vector<Table> estimate_tables(std::span<const EstimateComparisonRow> rows, bool by_node,
                                   const std::string& period_label, std::uint64_t top,
                                   bool with_hours);

}  // namespace pennyweight
