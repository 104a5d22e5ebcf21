// ScopeCosts: the daily costs of many scopes from few queries of the ledger.
//
// Thousands of budgets that each ask for their own days would scan the ledger thousands of times.
// Scopes that filter by the same dimensions are answered from one query that is grouped by these
// dimensions; a scope is then the sum of the groups that its filters let pass. Exact: the sums are
// those that each scope's own query would give.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

// One thread at a time uses it.
class ScopeCosts {
 public:
  using Scope = std::vector<SummaryFilter>;

  // `scopes`: those that will be asked for. Days from `first` to `last` are queried, each group of
  // scopes when it is first asked for; with `by_month` they are also answered grouped by "month".
  ScopeCosts(std::span<const Scope> scopes, Date first, Date last, SummarySource summarise,
             bool by_month = false);
  ~ScopeCosts();
  ScopeCosts(const ScopeCosts&) = delete;
  ScopeCosts& operator=(const ScopeCosts&) = delete;

  // As SummarySource. A query that is not by days of `first` to `last`, is grouped otherwise, is of
  // another instant, or of a scope that shares its dimensions with few others, is handed on.
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query);

  // How many queries were handed on or made; for tests.
  std::size_t queries() const { return queries_; }

 private:
  struct Group;

  Result<std::vector<SummaryRow>> ask(const SummaryQuery& query);
  Result<void> load(Group& group);

  const Date first_;
  const Date last_;
  const SummarySource summarise_;
  const bool by_month_;
  std::map<std::vector<std::string>, std::unique_ptr<Group>> groups_;  // by their dimensions
  std::size_t queries_ = 0;
};

}  // namespace pennyweight
