// Tables of unit costs and of job costs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reporting/table.h"
#include "reporting/unit_cost.h"
#include "reporting/unit_cost_jobs.h"

namespace pennyweight {

struct UnitTableOptions {
  std::string period_label;          // the month, or "all months"
  std::string by;                    // the dimension of the keys
  std::optional<std::uint64_t> per;  // outcomes that a cost is for; empty: default_per()
  int digits = 18;                   // to which unit costs are rounded
  std::optional<std::uint64_t> top;  // rows; one row sums the others
};

// One per report.
std::vector<Table> unit_cost_tables(std::span<const UnitCostReport> reports,
                                    const UnitTableOptions& options);
// One per currency, the most expensive jobs first.
std::vector<Table> job_cost_tables(std::span<const JobCostReport> reports,
                                   const UnitTableOptions& options);

}  // namespace pennyweight
