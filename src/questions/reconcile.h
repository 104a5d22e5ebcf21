// Is every bill line posted to its last digit? Lines beside their postings; what is off is named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "ledger/rejected_row.h"
#include "ledger/store.h"
#include "report/reconcile_report.h"
#include "report/table.h"

namespace pennyweight {

struct ReconcileQuestion {
  std::string month = {};       // a bill's; empty: every one that has lines
  bool lines = false;           // every line, not only those that are off
  std::uint64_t top = 10'000;   // lines of a month
  std::uint64_t rejected = 20;  // rows kept aside that are shown
};

struct ReconciledMonth {
  std::string month;
  std::vector<ReconcileTotals> totals;
  std::vector<LineCheck> lines;  // the first
  std::uint64_t hidden = 0;      // further ones

  bool exact() const;
  // One for each currency, with what is to be said of transfers and of lines that are gone.
  std::vector<Table> tables() const;
};

struct ReconcileAnswer {
  std::vector<ReconciledMonth> months;
  std::vector<RejectedRow> rejected;
  std::uint64_t rejected_all = 0;

  bool exact() const;
  std::uint64_t lines() const;  // of all months
};

// An Error of kBadValue where it is no month, of kNotFound where there are no such lines.
Result<ReconcileAnswer> ask_reconcile(Store& store, const ReconcileQuestion& question);

struct LedgersAnswer {
  std::vector<Table> tables;
  bool exact = false;
};

// Both ledgers, billed and effective, by what lines say of themselves. Days are those of `zone`.
// Errors as above.
Result<LedgersAnswer> ask_two_ledgers(Store& store, const std::string& month, ReconcileBy by,
                                      const TimeZone& zone);

}  // namespace pennyweight
