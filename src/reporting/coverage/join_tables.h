// Tables of charges that join no node, and of nodes without a charge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reporting/coverage/unmatched_collector.h"
#include "reporting/table.h"

namespace pennyweight {

// At most `top` rows per table; the totals include every row. `period_label` is the month, or "all
// months".
std::vector<Table> join_tables(const JoinFindings& findings, const std::string& period_label,
                               std::uint64_t top);
// For programs: one table per currency, with charges and nodes.
std::vector<Table> join_rows(const JoinFindings& findings);

}  // namespace pennyweight
