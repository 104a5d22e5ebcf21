// Queries restatements: what later deliveries changed in a bill.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "reporting/restatement_report.h"

namespace pennyweight {

struct RestatementResult {
  std::vector<RestatedCharge> lines;
  std::vector<ImportRecord> imports;  // all imports
  // One per currency; none where nothing was changed.
  std::vector<Table> tables() const { return restatement_tables(lines, imports); }
};

// `month` is the billing month; empty: all. An Error of kBadValue if it is not a month.
Result<RestatementResult> query_restatements(Store& store, const std::string& month);

}  // namespace pennyweight
