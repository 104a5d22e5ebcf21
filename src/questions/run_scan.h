// The postings of a month's current runs with the holdings they come from: what questions ask that
// need a posting's labels, and not only its dimensions.
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

// The month's days in every time zone.
Result<Interval> around_month(const std::string& month);

class RunScan {
 public:
  // `store` must outlive it.
  explicit RunScan(Store& store) : store_(store) {}

  // For postings whose holding no scan brings: a reading that a later one has replaced, or a month
  // before. Nothing where the ledger has none, or could not say, which scan() then tells.
  std::function<std::optional<Holding>(const FactId&)> finder();

  // The holdings about the scope's month, then the postings of its current run.
  Result<void> scan(const Scope& scope, const std::function<void(const Holding&)>& holding,
                    const std::function<void(const Posting&)>& posting);

 private:
  Store& store_;
  std::optional<Error> failed_;
};

}  // namespace pennyweight
