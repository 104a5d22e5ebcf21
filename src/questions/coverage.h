// How much of the GPU spend reaches a team, project, user; and what stops the rest? In memory that
// depends on what is shown and on one day's workloads, never on a month's postings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audit/audit_tables.h"
#include "audit/coverage.h"
#include "core/error.h"
#include "ledger/store.h"
#include "policy/policy.h"
#include "pricing/catalog.h"

namespace pennyweight {

struct CoverageQuestion {
  std::string month;  // empty: all
  std::vector<CoveredDimension> dimensions;
  std::uint64_t top = 10;  // places for each reason that has them
  // Only what holders in it were charged: nothing of lines that are posted to nobody, or not at
  // all, and so nothing that must add up to the bill. Empty: everything.
  std::vector<SummaryFilter> scope = {};
};

// The dimensions by their names: those that labels give. An Error of kBadValue says which is none.
Result<std::vector<CoveredDimension>> covered_dimensions(const std::vector<std::string>& names,
                                                         const Policy& policy);

// An Error of kNotFound where there are no bill lines of a month (empty: none at all).
Result<void> check_has_lines(Store& store, const std::string& month);

struct CoverageAnswer {
  std::vector<Coverage> coverage;  // by dimension as asked, then currency
  std::vector<GapPlace> places;    // by dimension, then the largest first
};

// An Error where the postings don't add up to the bill lines: `reconcile` names them.
Result<CoverageAnswer> cover(Store& store, const Catalog& catalog,
                             const CoverageQuestion& question);

}  // namespace pennyweight
