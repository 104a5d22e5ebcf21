// LiveBudgetCosts: what has been spent in the scopes of budgets today and this month, by what runs
// and ran, before the ledger has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/instant.h"
#include "insight/budgets/budget.h"
#include "reporting/live/live_rows.h"

namespace pennyweight {

struct LiveCost {
  Money today;
  // The days of this month in the ledger, those that are not settled yet, and today; nothing where
  // it is not known.
  std::optional<Money> month = {};
  // What running work with a time limit will still cost in the budget's period, if it runs as long
  // as it may; nothing where no running work has a limit and a price.
  std::optional<Money> committed = {};
  // Running workloads that are not in it.
  std::uint64_t without_limit = 0;
  std::uint64_t without_price = 0;  // with a limit, but no price in the budget's currency
  std::string without_rate = {};    // a currency of costs that are not in it for lack of a rate
  bool operator==(const LiveCost&) const = default;
};

// An amount in another currency; nothing: there is no rate.
using LiveConversion = std::function<std::optional<Money>(const Money&, const Currency&)>;

// The rows of a view, read once for all budgets. One thread at a time uses it.
class LiveBudgetCosts {
 public:
  // `policy` outlives it; the view is kept. Without a conversion, costs in another currency than a
  // budget's are not in it.
  LiveBudgetCosts(std::shared_ptr<const ViewRows> view, const Policy& policy,
                  LiveConversion convert = {});
  ~LiveBudgetCosts();
  LiveBudgetCosts(const LiveBudgetCosts&) = delete;
  LiveBudgetCosts& operator=(const LiveBudgetCosts&) = delete;

  // Nothing: the scope names what workloads don't have, such as a service, the budget is of
  // GPU-hours, or nothing in it has a price that is in its currency or can be converted to it.
  std::optional<LiveCost> of(const Budget& budget) const;

 private:
  using RowNumbers = std::vector<std::size_t>;
  const std::map<std::string, RowNumbers>& rows_by(const std::string& dimension) const;

  const std::shared_ptr<const ViewRows> kept_;
  const Instant at_;  // of the view
  const Policy& policy_;
  const LiveConversion convert_;
  // When the period that today is in ends.
  Instant period_end(const Budget& budget) const;
  Money committed_until(std::size_t row, Instant end) const;

  std::vector<const LiveRow*> rows_;  // those with a cost of this month, of kept_
  // Until when the row's work may run, by its time limit; nothing: it has none, or has ended.
  std::vector<std::optional<Instant>> may_run_until_;
  Date today_;
  mutable std::map<Date, Instant> period_ends_;  // by the last day
  // Of each dimension that was asked for, the rows of each value.
  mutable std::map<std::string, std::map<std::string, RowNumbers>> by_value_;
};

}  // namespace pennyweight
