// RecentReconciliation: whether this billing month and the one before are allocated to the last
// digit, asked again and again while `serve` runs.
//
// All charges and postings of a month are read for it while nobody else can use the ledger. So each
// month is read by itself, and not again before its charges or its runs have changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "reporting/queries/reconcile.h"

namespace pennyweight {

class SharedLedger;

// One thread at a time uses it.
class RecentReconciliation {
 public:
  // The months that have no charges are left out.
  Result<ReconcileResult> query(SharedLedger& ledger, Instant now);
  // The same of one month.
  Result<ReconcileResult> query_month(Store& store, const std::string& month, Instant now);
  // How many months were read; for tests.
  std::uint64_t months_read() const { return months_read_; }

 private:
  struct Kept {
    std::uint64_t imports = 0;  // the number of the last import that it has read
    std::uint64_t runs = 0;     // the sum of the numbers of the month's runs: it only grows
    ReconcileResult result = {};
  };
  std::map<std::string, Kept> kept_;  // by month
  std::uint64_t months_read_ = 0;
};

}  // namespace pennyweight
