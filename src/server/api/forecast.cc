// GET /api/v1/forecast: what the next days and months will cost, with ranges.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "insight/queries/forecast_query.h"
#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/daily_history.h"
#include "server/api/endpoints.h"
#include "server/api/known_events.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"
#include "server/forecast_book/forecast_book.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kForecastKeysMax = 200;
constexpr std::uint64_t kForecastDaysDefault = 30;

// Amounts of events are in the currency of the costs, at the rates of the newest ones. One that has
// no rate stays as it is: it does not count, and a note says so.
void convert_events(const ScopedQueries& queries, ForecastQuery& query) {
  const Date last = query.costs.complete_until.value_or(query.costs.today);
  for (forecasting::KnownEvent& event : query.events) {
    if (!event.per_day || event.per_day->currency() == kGpuHourUnit) continue;
    const auto converted = queries.in_currency(*event.per_day, to_text(last).substr(0, 7));
    if (converted) event.per_day = *converted;
  }
}

}  // namespace

Response get_forecast(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  ForecastQuery query;
  query.costs.by = params.text("by").value_or("");
  query.costs.filters = read_filters(params);
  query.costs.cost =
      params.choice("cost", {"effective", "billed", "list", "contracted", "gpu_hours"});
  query.days =
      static_cast<int>(params.number("days", 1, kForecastDaysMax).value_or(kForecastDaysDefault));
  query.step = params.choice("step", {"none", "day", "month"});
  query.half = params.boolean("half").value_or(false);
  query.costs.keys_max = params.number("top", 1, kForecastKeysMax).value_or(20);
  const auto today = params.date("today");
  const bool explains = params.boolean("explain").value_or(false);
  // Hours have no currency: rates that are missing are no reason to refuse them.
  const auto currency = read_currency(params, services.config.currencies.report);
  if (query.costs.cost != kGpuHourCost) queries.convert_to(currency);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  auto events = visible_events(services, queries.who());
  if (!events) return refusal(events.error());
  query.events = *std::move(events);
  query.asker_scope = queries.who().scope;
  // What was kept is of everybody's costs.
  if (services.forecast_book != nullptr && !queries.is_scoped()) {
    query.kept = [&](const std::string& by) { return services.forecast_book->kept(by); };
  }
  if (auto known = set_known_days(services, queries, today, query.costs); !known) {
    return refusal(known.error());
  }
  convert_events(queries, query);
  const auto result = query_forecast(
      query, policy, [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  // Nothing was spent yet: an answer without tables, not an error.
  if (!result && result.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!result) return refusal(result.error());
  auto table = forecast_table(*result, query);
  if (!table) return refusal(table.error());
  std::ranges::move(queries.rates(), std::back_inserter(table->notes));
  std::vector<Table> tables{*std::move(table)};
  if (explains) {
    // The rows of CSV and JSON lines have one header: the explanation stands for the forecast.
    if (format != AnswerFormat::kJson) tables.clear();
    tables.push_back(forecast_explanation(*result, query));
    if (format == AnswerFormat::kJson && query.kept) {
      tables.push_back(kept_forecast_table(*result, query));
    }
  }
  return answer(std::move(tables), format, "");
}

}  // namespace pennyweight::api
