#include "server/api/budget_scope.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/try.h"
#include "reporting/queries/selection.h"
#include "server/budget_book/budget_book.h"

namespace pennyweight::api {

namespace {

// Nothing: they can't be understood.
std::optional<std::vector<SummaryFilter>> filters_of(const Budget& budget, const Policy& policy) {
  std::vector<SummaryFilter> filters;
  for (const std::string& text : budget.filters) {
    const auto parsed = parse_filter(text, policy);
    if (!parsed) return std::nullopt;
    filters.insert(filters.end(), parsed->begin(), parsed->end());
  }
  return filters;
}

}  // namespace

bool is_in_scope(const Budget& budget, const access::Principal& who, const Policy& policy) {
  if (!who.is_scoped()) return true;
  const auto filters = filters_of(budget, policy);
  return filters && access::covers(who.scope, *filters);
}

bool is_of_whole_scope(const Budget& budget, const access::Principal& who, const Policy& policy) {
  if (budget.filters.empty()) return true;
  if (!who.is_scoped()) return false;
  const auto filters = filters_of(budget, policy);
  return filters && access::covers(*filters, who.scope);
}

Result<std::vector<Budget>> visible_budgets(const Services& services,
                                            const access::Principal& who) {
  const std::vector<Budget>& configured = services.config.budgets;
  std::vector<Budget> all =
      services.budget_book == nullptr ? configured : TRY(services.budget_book->with(configured));
  std::erase_if(
      all, [&](const Budget& budget) { return !is_in_scope(budget, who, services.config.policy); });
  return all;
}

}  // namespace pennyweight::api
