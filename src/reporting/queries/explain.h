// Explains an amount: from a row of a report, or a charge, down to the arithmetic of one posting.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "allocation/explain.h"
#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/outline.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct ExplainQuery {
  std::string charge = {};                 // the id of a charge; or, if empty:
  std::vector<std::string> by = {"team"};  // the dimensions of a report …
  std::string key = {};                    // … and the key of a row, as the report shows it
  DateOptions dates = {};
  std::uint64_t top = 5;  // postings
  // Shows only postings in this scope, and names no workload outside of it. Empty: everything.
  std::vector<SummaryFilter> scope = {};
};

struct ExplainResult {
  std::vector<Posting> postings;  // the largest; at least one
  Table table;                    // of the postings
  Explanation explanation;        // of the first posting
  std::vector<std::string> warnings;
};

// The largest postings that match. An Error of kBadValue names the parameter that can't be
// understood; kNotFound means that no posting matches, or none in the scope.
Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuery& params,
                                           const Policy& policy);

// Explains the first of `postings`. REQUIRES: find_postings() returned them.
Result<ExplainResult> explain_postings(Store& store, const ExplainQuery& params,
                                       std::vector<Posting> postings, const Config& config,
                                       const Catalog& catalog);

std::vector<OutlineSection> outline_explanation(const Explanation& explanation);

// The parts of an explanation that a scoped user may see. Workloads that shared a device or bear a
// part of the cost are anonymous unless `names` accepts them. The charge's amounts are left out,
// since they are what all owners pay together.
Explanation restrict_to_scope(const Explanation& whole,
                              const std::function<bool(const std::string& workload)>& names);

}  // namespace pennyweight
