#include "insight/queries/approval_budgets.h"

#include <algorithm>
#include <string_view>

#include "core/try.h"
#include "insight/guardrails/charged_scope.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/budget_uses.h"

namespace pennyweight {
namespace {

using guardrails::Charged;

// A request that does not say whose it is, is whose its labels and its namespace say.
std::vector<PlannedDimensions> request_owners(const guardrails::ApprovalRequest& request,
                                              const Policy& policy) {
  if (!request.owners.empty()) return request.owners;
  constexpr std::string_view kSlurmTitle = "Slurm job ";
  const bool is_slurm_job = request.workload.starts_with(kSlurmTitle);
  return {guardrails::planned_dimensions(
      {.is_slurm_job = is_slurm_job,
       .name_space = request.name_space,
       .name = is_slurm_job ? std::string_view(request.workload).substr(kSlurmTitle.size())
                            : std::string_view(),
       .labels = request.labels},
      policy)};
}

}  // namespace

bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters,
              const Policy& policy) {
  const auto scope = scope_terms(filters);
  return std::ranges::all_of(request_owners(request, policy), [&](const PlannedDimensions& owner) {
    return is_charged(owner, scope) == Charged::kYes;
  });
}

Result<std::vector<BudgetAfter>> budgets_after(const guardrails::ApprovalRequest& request,
                                               std::span<const Budget> budgets, Date today,
                                               const Policy& policy,
                                               const SummarySource& summarise) {
  std::vector<BudgetAfter> found;
  if (!request.cost) return found;
  const auto owners = request_owners(request, policy);
  std::vector<Budget> chosen;
  std::vector<bool> is_certain;
  for (const Budget& budget : budgets) {
    if (budget.currency() != request.cost->currency()) continue;
    const auto scope = budget_scope(budget, policy);
    if (!scope) continue;
    const Charged charged = is_charged(owners, *scope);
    if (charged == Charged::kNo) continue;
    chosen.push_back(budget);
    is_certain.push_back(charged == Charged::kYes);
  }
  if (chosen.empty()) return found;
  const auto statuses = TRY(
      query_budgets({.budgets = chosen, .today = today, .forecasts = false}, policy, summarise));
  for (const BudgetStatus& status : statuses) {
    if (!status.problem.empty()) continue;
    const auto budget = std::ranges::find(chosen, status.budget.name, &Budget::name);
    found.push_back({.name = status.budget.name,
                     .owner = status.budget.owner,
                     .amount = status.amount,
                     .left = status.left,
                     .after = status.left - *request.cost,
                     .is_certain = is_certain[static_cast<std::size_t>(budget - chosen.begin())]});
  }
  return found;
}

}  // namespace pennyweight
