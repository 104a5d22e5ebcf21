// Queries the reconciliation: whether every charge is posted to the last digit, and where not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "ledger/rejected_row.h"
#include "ledger/store.h"
#include "reporting/reconcile_report.h"
#include "reporting/table.h"

namespace pennyweight {

struct ReconcileQuery {
  std::string month = {};       // a billing month; empty: every month with charges
  bool lines = false;           // list every charge, not only those with differences
  std::uint64_t top = 10'000;   // charges listed per month
  std::uint64_t rejected = 20;  // set-aside rows listed
};

struct ReconciledMonth {
  std::string month;
  std::vector<ReconcileTotals> totals;
  std::vector<LineCheck> lines;  // the listed ones
  std::uint64_t hidden = 0;      // not listed

  bool exact() const;
  // One per currency, with notes about transfers and retired charges.
  std::vector<Table> tables() const;
};

struct ReconcileResult {
  std::vector<ReconciledMonth> months;
  std::vector<RejectedRow> rejected;
  std::uint64_t rejected_all = 0;

  bool exact() const;
  std::uint64_t lines() const;  // charges of all months
};

// Errors: kBadValue where it is no month, kNotFound where there are no such charges.
Result<ReconcileResult> query_reconciliation(Store& store, const ReconcileQuery& params);

struct GroupedReconciliationResult {
  std::vector<Table> tables;
  bool exact = false;
};

// The same by group, for billed and effective cost. Days are those of `zone`. Errors as above.
Result<GroupedReconciliationResult> query_grouped_reconciliation(Store& store,
                                                                 const std::string& month,
                                                                 ReconcileBy by,
                                                                 const TimeZone& zone);

}  // namespace pennyweight
