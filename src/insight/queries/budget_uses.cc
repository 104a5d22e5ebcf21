#include "insight/queries/budget_uses.h"

#include <utility>

#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "reporting/queries/selection.h"

namespace pennyweight {

using guardrails::BudgetScopeTerm;
using guardrails::BudgetUse;

std::vector<BudgetScopeTerm> scope_terms(std::span<const SummaryFilter> filters) {
  std::vector<BudgetScopeTerm> terms;
  for (const SummaryFilter& filter : filters) {
    terms.push_back(
        {.dimension = filter.dimension, .values = filter.values, .negate = filter.negate});
  }
  return terms;
}

Result<std::vector<BudgetScopeTerm>> budget_scope(const Budget& budget, const Policy& policy) {
  std::vector<BudgetScopeTerm> scope;
  for (const std::string& text : budget.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    const auto terms = scope_terms(filters);
    scope.insert(scope.end(), terms.begin(), terms.end());
  }
  return scope;
}

std::vector<Budget> budgets_of_day(std::span<const Budget> budgets, Date day) {
  std::vector<Budget> chosen;
  for (const Budget& budget : budgets) {
    const BudgetDays days = budget_days(budget, day);
    if (days.first <= day && day <= days.last) chosen.push_back(budget);
  }
  return chosen;
}

Result<std::vector<BudgetUse>> query_budget_uses(std::span<const Budget> budgets, Date today,
                                                 const Policy& policy,
                                                 const SummarySource& summarise) {
  std::vector<BudgetUse> uses;
  const std::vector<Budget> now = budgets_of_day(budgets, today);
  if (now.empty()) return uses;
  const auto statuses =
      TRY(query_budgets({.budgets = now, .today = today, .forecasts = false}, policy, summarise));
  for (const BudgetStatus& status : statuses) {
    BudgetUse use{.name = status.budget.name, .amount = status.amount, .problem = status.problem};
    auto scope = budget_scope(status.budget, policy);
    if (!scope) {
      // Whose it is can't be told, so it is everybody's.
      use.problem = scope.error().message;
    } else {
      use.scope = *std::move(scope);
    }
    if (use.problem.empty()) use.left = status.left;
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace pennyweight
