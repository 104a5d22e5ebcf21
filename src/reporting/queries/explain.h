// Explains an amount: from a row of a report, or a charge, down to the arithmetic of one posting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocation/explain.h"
#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"
#include "reporting/cost_report.h"
#include "reporting/outline.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct ExplainQuery {
  std::string charge = {};                 // the id of a charge; or, if empty:
  std::vector<std::string> by = {"team"};  // the dimensions of a report …
  std::string key = {};                    // … and the key of a row, as the report shows it
  bool whole = false;                      // all rows of the report instead of one
  std::vector<std::string> filters = {};   // of the report: "team=nlp,cv", "kind!=shared"
  DateOptions dates = {};
  std::string cost = "effective";  // effective, billed, list, contracted
  std::optional<Instant> as_of = {};
  std::uint64_t top = 5;      // postings
  std::uint64_t skipped = 0;  // larger postings that are not listed
  // The number of the posting to explain, counted from 0 in the order of size; nothing: the first
  // that is listed.
  std::optional<std::uint64_t> posting = {};
  // Shows only postings in this scope, and names no workload outside of it. Empty: everything.
  std::vector<SummaryFilter> scope = {};
};

struct ExplainResult {
  std::vector<Posting> postings;  // the largest
  Table table;                    // of the postings
  std::optional<Posting> chosen;  // the posting that is explained
  Explanation explanation;
  // Where the chosen posting was moved by a spread rule: the id of the transfer, whose bucket
  // find_bucket() lists. Empty for others, and in a scope.
  std::string bucket;
  std::vector<std::string> warnings;
};

// "effective", "billed", "list", "contracted".
Result<CostColumn> parse_explained_cost(const std::string& cost);

// The query of the row or charge: filters, dates and instant, without the scope.
Result<SummaryQuery> explained_selection(const ExplainQuery& params, const Policy& policy);

// The largest postings that match. An Error of kBadValue names the parameter that can't be
// understood; kNotFound means that no posting matches, or none in the scope.
Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuery& params,
                                           const Policy& policy);

// The bucket whose cost a transfer of a spread rule moved: the postings that its amount is the sum
// of, the largest first, and the run scope's month.
struct SpreadBucket {
  std::string month;
  std::vector<Posting> postings;
};
// An Error of kNotFound where `transfer` is no transfer of a spread rule.
Result<SpreadBucket> find_bucket(Store& store, const std::string& transfer);

// Explains one posting of `postings`, or of those not listed. REQUIRES: find_postings() returned
// them.
Result<ExplainResult> explain_postings(Store& store, const ExplainQuery& params,
                                       std::vector<Posting> postings, const Config& config,
                                       const Catalog& catalog);

std::vector<OutlineSection> outline_explanation(const Explanation& explanation);

// The parts of an explanation that a scoped user may see: their own part, and the rules. Workloads
// that shared a device or bear a part of the cost are left out unless `names` accepts them. So are
// the charge's amounts, and the share by which one could compute them: they are what all owners pay
// together.
Explanation restrict_to_scope(const Explanation& whole,
                              const std::function<bool(const std::string& workload)>& names);

}  // namespace pennyweight
