#include "insight/queries/approval_budgets.h"

#include <algorithm>

#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

// What a request states of a dimension; "" where it states nothing.
std::string stated_value(const guardrails::ApprovalRequest& request, std::string_view dimension) {
  if (dimension == "namespace") return request.name_space;
  const auto label = request.labels.find(dimension);
  return label == request.labels.end() ? "" : label->second;
}

}  // namespace

bool is_about(const guardrails::ApprovalRequest& request, std::span<const SummaryFilter> filters) {
  return std::ranges::all_of(filters, [&](const SummaryFilter& filter) {
    const std::string value = stated_value(request, filter.dimension);
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
  std::vector<Budget> chosen;
  for (const Budget& budget : budgets) {
    if (budget.currency() != request.cost->currency()) continue;
    std::vector<SummaryFilter> filters;
    bool is_sound = true;
    for (const std::string& text : budget.filters) {
      const auto parsed = parse_filter(text, policy);
      is_sound = is_sound && parsed.has_value();
      if (parsed) filters.insert(filters.end(), parsed->begin(), parsed->end());
    }
    if (is_sound && is_about(request, filters)) chosen.push_back(budget);
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
