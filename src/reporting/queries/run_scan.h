// Scans the postings of a month's current runs with their holdings, for queries that need the
// labels of a posting and not only its dimensions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

// The scopes of current runs of a month (empty: all), in order. An Error where there are none.
Result<std::vector<Scope>> allocated_scopes(Store& store, const std::string& month);

// The month in every time zone.
Result<Interval> around_month(const std::string& month);

class RunScan {
 public:
  // `store` must outlive it.
  explicit RunScan(Store& store) : store_(store) {}

  // Looks up holdings that no scan brings: superseded readings, or an earlier month's. Empty where
  // the ledger has none. Where the lookup fails, it is empty too, and scan() returns the error.
  std::function<std::optional<Holding>(const FactId&)> holding_finder();

  // Visits the holdings around the scope's month, then the postings of its current run.
  Result<void> scan(const Scope& scope, const std::function<void(const Holding&)>& holding,
                    const std::function<void(const Posting&)>& posting);

 private:
  Store& store_;
  std::optional<Error> failed_;
};

}  // namespace pennyweight
