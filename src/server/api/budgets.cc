// GET /api/v1/budgets: how far budgets have come.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "insight/queries/budget_query.h"
#include "server/api/answers.h"
#include "server/api/budget_scope.h"
#include "server/api/daily_history.h"
#include "server/api/endpoints.h"
#include "server/api/known_events.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

}  // namespace

Response get_budgets(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  const std::string name = params.text("name").value_or("");
  const auto today = params.date("today");
  const bool forecasts = params.boolean("forecast").value_or(true);
  const bool is_of_whole = params.boolean("whole").value_or(false);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  auto budgets = visible_budgets(services, queries.who());
  if (!budgets) return refusal(budgets.error());
  if (is_of_whole) {
    std::erase_if(*budgets, [&](const Budget& one) {
      return !is_of_whole_scope(one, queries.who(), policy);
    });
  }
  const auto events = visible_events(services, queries.who());
  if (!events) return refusal(events.error());
  DailyCostQuery days;
  if (auto known = set_known_days(services, queries, today, days); !known) {
    return refusal(known.error());
  }
  // Unscoped; a budget that the user sees lies in their scope with all it costs.
  std::optional<LiveBudgetCosts> live;
  const auto view = services.live ? services.live() : nullptr;
  const TimeZone& zone = policy.time_zone;
  std::optional<BudgetConversion> conversion;
  if (services.config.currencies.report) {
    const CurrencyConfig& config = services.config.currencies;
    conversion = BudgetConversion{
        .rates = [&](const Currency& foreign) { return configured_rates(services, foreign); },
        .search = {.days_valid_max = config.days_valid_max, .pivot = config.pivot}};
  }
  if (view && local_date(view->at, zone) == to_text(days.today)) {
    live.emplace(view_rows(view), policy,
                 conversion ? live_conversion(*conversion, days.today) : LiveConversion());
  }
  const auto statuses = query_budgets(
      {.budgets = *budgets,
       .name = name,
       .today = days.today,
       .complete_until = days.complete_until,
       .events = *events,
       .forecasts = forecasts,
       .conversion = conversion,
       .kept = services.budget_forecasts.get(),
       .live_cost = [&](const Budget& one) -> std::optional<LiveCost> {
         return live ? live->of(one) : std::nullopt;
       }},
      policy, [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  if (!statuses) return refusal(statuses.error());
  return answer(budget_tables(*statuses), format, "");
}

}  // namespace pennyweight::api
