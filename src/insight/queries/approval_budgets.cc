#include "insight/queries/approval_budgets.h"

#include <algorithm>
#include <string_view>

#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/budget_uses.h"

namespace pennyweight {

bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters) {
  return std::ranges::all_of(filters, [&](const SummaryFilter& filter) {
    std::string_view value;
    if (filter.dimension == "namespace") {
      value = request.name_space;
    } else if (const auto label = request.labels.find(filter.dimension);
               label != request.labels.end()) {
      value = label->second;
    }
    if (value.empty()) return false;
    const bool is_listed = std::ranges::find(filter.values, value) != filter.values.end();
    return is_listed != filter.negate;
  });
}

Result<std::vector<BudgetAfter>> budgets_after(const guardrails::ApprovalRequest& request,
                                               std::span<const Budget> budgets, Date today,
                                               const Policy& policy,
                                               const SummarySource& summarise) {
  std::vector<BudgetAfter> found;
  if (!request.cost) return found;
  constexpr std::string_view kSlurmTitle = "Slurm job ";
  const bool is_slurm_job = request.workload.starts_with(kSlurmTitle);
  const auto dimensions = guardrails::planned_dimensions(
      {.is_slurm_job = is_slurm_job,
       .name_space = request.name_space,
       .name = is_slurm_job ? std::string_view(request.workload).substr(kSlurmTitle.size())
                            : std::string_view(),
       .labels = request.labels},
      policy);
  std::vector<Budget> chosen;
  for (const Budget& budget : budgets) {
    if (budget.currency() != request.cost->currency()) continue;
    const auto scope = budget_scope(budget, policy);
    const bool is_charged =
        scope && guardrails::is_charged(dimensions, *scope) == guardrails::Charged::kYes;
    if (is_charged) chosen.push_back(budget);
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
