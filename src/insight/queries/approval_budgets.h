// Whose a workload is that waits for an approval: in which scopes it is, and which budgets it would
// be charged to, with what they would have left.
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

// Whether all that is asked for is in a scope, by the dimensions of the policy. What is not known
// of them before it runs is in none.
bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters,
              const Policy& policy);

struct BudgetAfter {
  std::string name;
  std::string owner;
  Money amount = Money::zero(kUsd);  // of the period of today
  Money left = Money::zero(kUsd);    // below 0 where it is exceeded
  Money after = Money::zero(kUsd);   // left, once the workload has cost what was asked for
  bool is_certain = true;            // false: whether it is charged to it is not known yet
};

// Budgets in the currency of the request's cost whose scope the request is in, or may be in; none
// where that cost is not known.
Result<std::vector<BudgetAfter>> budgets_after(const guardrails::ApprovalRequest& request,
                                               std::span<const Budget> budgets, Date today,
                                               const Policy& policy,
                                               const SummarySource& summarise);

}  // namespace pennyweight
