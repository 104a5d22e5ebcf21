// Queries cost coverage: how much of the GPU spend reaches a team, project or user, and what stops
// the rest. Memory use depends on what is shown and on one day's workloads, not on the postings of
// a month.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/coverage/coverage.h"
#include "reporting/coverage/coverage_tables.h"

namespace pennyweight {

struct CoverageQuery {
  std::string month;  // empty: all
  std::vector<CoveredDimension> dimensions;
  std::uint64_t top = 10;  // gaps listed per dimension and currency
  // Restricts the result to what workloads in the scope were charged. Charges without a workload or
  // a posting are then left out, so the result does not add up to the bill. Empty: everything.
  std::vector<SummaryFilter> scope = {};
};

// Looks the dimensions up by name; only dimensions that labels set qualify. An Error of kBadValue
// names the first that does not.
Result<std::vector<CoveredDimension>> covered_dimensions(const std::vector<std::string>& names,
                                                         const Policy& policy);

// An Error of kNotFound where the month (empty: the ledger) has no charges.
Result<void> check_has_charges(Store& store, const std::string& month);

struct CoverageResult {
  std::vector<Coverage> coverage;  // by dimension as asked, then currency
  std::vector<CoverageGap> gaps;   // by dimension, then the largest first
};

// Converts every amount by itself and adds those of one dimension; totals are then sums of the
// converted parts, so the result adds up exactly.
Result<CoverageResult> convert_coverage(CoverageResult result, Currency to,
                                        const std::function<Result<Money>(const Money&)>& convert);

// An Error where the postings don't add up to the charges: `reconcile` lists the differences.
Result<CoverageResult> query_coverage(Store& store, const Catalog& catalog,
                                      const CoverageQuery& params);

}  // namespace pennyweight
