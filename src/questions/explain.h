// Why is an amount what it is? From a row of a report, or a bill line, down to the arithmetic of
// one posting.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "allocate/explain.h"
#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"
#include "pricing/catalog.h"
#include "questions/selection.h"
#include "report/outline.h"
#include "report/table.h"

namespace pennyweight {

struct ExplainQuestion {
  std::string charge = {};                 // the id of a bill line; or, where it is empty:
  std::vector<std::string> by = {"team"};  // the dimensions of a report …
  std::string key = {};                    // … and the row of it, as the report shows it
  DateOptions dates = {};
  std::uint64_t top = 5;  // postings
  // Nothing but what these let through is shown, and nobody else is named. Empty: everything.
  std::vector<SummaryFilter> scope = {};
};

struct ExplainAnswer {
  std::vector<Posting> postings;  // the largest, at least one
  Table table;                    // of them
  Explanation explanation;        // of the first
  std::vector<std::string> warnings;
};

// The largest postings that are asked for. An Error of kBadValue says which word means nothing, one
// of kNotFound that there is no such posting, or none in the scope.
Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuestion& question,
                                           const Policy& policy);

// The explanation of the first of `postings`, which are of find_postings().
Result<ExplainAnswer> ask_explain(Store& store, const ExplainQuestion& question,
                                  std::vector<Posting> postings, const Config& config,
                                  const Catalog& catalog);

std::vector<OutlineSection> outline_of(const Explanation& explanation);

// What of an explanation may be told to somebody who is bound to a scope: of who shared a device or
// bears a part only those that `names` knows, the others without name; of the bill line no amounts,
// since they are what all pay together.
Explanation cut_to_scope(const Explanation& whole,
                         const std::function<bool(const std::string& workload)>& names);

}  // namespace pennyweight
