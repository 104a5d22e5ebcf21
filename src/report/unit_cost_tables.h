// Unit costs and the cost of jobs as tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/table.h"
#include "report/unit_cost.h"
#include "report/unit_cost_jobs.h"

namespace pennyweight {

struct UnitTableOptions {
  std::string what;                  // the month, or "all months"
  std::string by;                    // what the keys are of
  std::optional<std::uint64_t> per;  // outcomes that a cost is for; nothing: usual_per()
  int digits = 18;                   // of unit costs, to which they are rounded
  std::optional<std::uint64_t> top;  // rows; the others in one
};

// One a report.
std::vector<Table> unit_cost_tables(std::span<const UnitCostReport> reports,
                                    const UnitTableOptions& options);
// One a currency, the most expensive first.
std::vector<Table> job_cost_tables(std::span<const JobCostReport> reports,
                                   const UnitTableOptions& options);

}  // namespace pennyweight
