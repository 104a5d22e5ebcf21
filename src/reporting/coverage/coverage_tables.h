// Tables of cost coverage: how much GPU spend reaches each dimension, and what stops the rest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reporting/coverage/coverage.h"
#include "reporting/table.h"

namespace pennyweight {

// GPU spend that does not reach a dimension, of one group of workloads or one resource.
struct CoverageGap {
  std::string dimension;
  GapReason reason;
  std::string subject;  // "lab: account nlp", "i-0abc… (p4d.24xlarge)"
  std::string remark;   // "has job_name, user", or empty
  Money effective;
  std::uint64_t postings = 0;
};

// For people. `period_label` is the month, or "all months". The gaps keep their order.
std::vector<Table> coverage_tables(std::span<const Coverage> all, std::span<const CoverageGap> gaps,
                                   const std::string& period_label);
// For programs: one table per currency, with a row for each dimension and reason.
std::vector<Table> coverage_rows(std::span<const Coverage> all);

}  // namespace pennyweight
