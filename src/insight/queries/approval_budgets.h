// Which budgets a workload that waits for an approval would be charged to, and what they would have
// left.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/budgets/budget.h"
#include "insight/guardrails/approval.h"
#include "insight/queries/daily_costs.h"

namespace pennyweight {

// Whether all filters of a dimension are met by the labels or the namespace of a request. A
// dimension that the request does not state is not met.
bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters);

struct BudgetAfter {
  std::string name;
  std::string owner;
  Money amount = Money::zero(kUsd);  // of the period of today
  Money left = Money::zero(kUsd);    // below 0 where it is exceeded
  Money after = Money::zero(kUsd);   // left, once the workload has cost what was asked for
};

// Budgets in the currency of the request's cost whose scope the request is in; none where that cost
// is not known.
Result<std::vector<BudgetAfter>> budgets_after(const guardrails::ApprovalRequest& request,
                                               std::span<const Budget> budgets, Date today,
                                               const Policy& policy,
                                               const SummarySource& summarise);

}  // namespace pennyweight
