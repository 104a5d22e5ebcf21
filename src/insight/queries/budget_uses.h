// How far budgets have come, for the rules that ask for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/budgets/budget.h"
#include "insight/guardrails/rule_context.h"
#include "insight/queries/daily_costs.h"
#include "ledger/summary.h"

namespace pennyweight {

std::vector<guardrails::BudgetScopeTerm> scope_terms(std::span<const SummaryFilter> filters);
// The scope of a budget's filters. An Error: they can't be understood.
Result<std::vector<guardrails::BudgetScopeTerm>> budget_scope(const Budget& budget,
                                                              const Policy& policy);

// Without those of projects that are over or to come.
std::vector<Budget> budgets_of_day(std::span<const Budget> budgets, Date day);

// In the order of the budgets; one that can't be measured has a problem.
Result<std::vector<guardrails::BudgetUse>> query_budget_uses(std::span<const Budget> budgets,
                                                             Date today, const Policy& policy,
                                                             const SummarySource& summarise);

}  // namespace pennyweight
