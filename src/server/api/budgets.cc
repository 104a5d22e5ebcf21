// GET /api/v1/budgets and /api/v1/anomalies: how far budgets have come, and unusual days.
#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "insight/queries/budget_query.h"
#include "server/api/answers.h"
#include "server/api/budget_scope.h"
#include "server/api/cost_params.h"
#include "server/api/daily_history.h"
#include "server/api/endpoints.h"
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
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto budgets = visible_budgets(services, queries.who());
  if (!budgets) return refusal(budgets.error());
  DailyCostQuery days;
  if (auto known = set_known_days(services, queries, today, days); !known) {
    return refusal(known.error());
  }
  // Unscoped; a budget that the user sees lies in their scope with all it costs.
  std::optional<LiveBudgetCosts> live;
  const auto view = services.live ? services.live() : nullptr;
  const TimeZone& zone = policy.time_zone;
  if (view && local_date(view->at, zone) == to_text(days.today)) live.emplace(view, policy);
  const auto statuses = query_budgets(
      {.budgets = *budgets,
       .name = name,
       .today = days.today,
       .complete_until = days.complete_until,
       .events = services.config.events,
       .forecasts = forecasts,
       .kept = services.budget_forecasts.get(),
       .live_cost = [&](const Budget& one) -> std::optional<LiveCost> {
         return live ? live->of(one) : std::nullopt;
       }},
      policy, [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  if (!statuses) return refusal(statuses.error());
  return answer(budget_tables(*statuses), format, "");
}

Response get_anomalies(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  AnomalyQuery query;
  query.costs.by = params.text("by").value_or("");
  query.cause = params.text("cause").value_or("");
  query.costs.filters = read_filters(params);
  query.costs.cost = params.choice("cost", {"effective", "billed", "list", "contracted"});
  query.rules.impact_percent = static_cast<int>(params.number("impact", 1, 1000).value_or(10));
  query.since = params.date("since");
  const auto today = params.date("today");
  const bool explains = params.boolean("explain").value_or(false);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto known = set_known_days(services, queries, today, query.costs); !known) {
    return refusal(known.error());
  }
  const auto found = query_anomalies(
      query, policy, [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  // Nothing was spent yet: an answer without tables, not an error.
  if (!found && found.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!found) return refusal(found.error());
  Table table = anomaly_table(*found, query);
  if (explains) {
    for (const FoundAnomaly& one : *found) table.notes.push_back(one.sentence);
  }
  std::ranges::move(queries.rates(), std::back_inserter(table.notes));
  return answer({std::move(table)}, format, "");
}

}  // namespace pennyweight::api
