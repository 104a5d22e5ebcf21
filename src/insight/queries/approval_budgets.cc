#include "insight/queries/approval_budgets.h"

#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/budget_uses.h"

namespace pennyweight {
bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters) {
  return guardrails::is_in_scope(request.labels, request.name_space, scope_terms(filters));
}

Result<std::vector<BudgetAfter>> budgets_after(const guardrails::ApprovalRequest& request,
                                               std::span<const Budget> budgets, Date today,
                                               const Policy& policy,
                                               const SummarySource& summarise) {
  std::vector<BudgetAfter> found;
  if (!request.cost) return found;
  std::vector<Budget> chosen;
  for (const Budget& budget : budgets) {
    if (budget.currency() != request.cost->currency()) continue;
    const auto scope = budget_scope(budget, policy);
    const bool is_about_it =
        scope && guardrails::is_in_scope(request.labels, request.name_space, *scope);
    if (is_about_it) chosen.push_back(budget);
  }
  if (chosen.empty()) return found;
  const auto statuses = TRY(
      query_budgets({.budgets = chosen, .today = today, .forecasts = false}, policy, summarise));
  for (const BudgetStatus& status : statuses) {
    if (!status.problem.empty()) continue;
    found.push_back({.name = status.budget.name,
                     .owner = status.budget.owner,
                     .amount = status.amount,
                     .left = status.left,
                     .after = status.left - *request.cost});
  }
  return found;
}

}  // namespace pennyweight
