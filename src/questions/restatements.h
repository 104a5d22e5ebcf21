// What did deliveries change of a bill that was there: both versions, where it is booked, and why?
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"
#include "report/restatement_report.h"

namespace pennyweight {

struct RestatementAnswer {
  std::vector<RestatedLine> lines;
  std::vector<ImportRecord> imports;  // that brought them, and all others
  // One for each currency; none where nothing was changed.
  std::vector<Table> tables() const { return restatement_tables(lines, imports); }
};

// Of one month's bill; empty: of all. An Error of kBadValue where it is no month.
Result<RestatementAnswer> ask_restatements(Store& store, const std::string& month);

}  // namespace pennyweight
