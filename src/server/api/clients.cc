// GET /clients: the month of each client: training, inference, storage, budgets and the margin.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/hash.h"
#include "core/try.h"
#include "insight/queries/client_report.h"
#include "server/access/principal.h"
#include "server/api/budget_scope.h"
#include "server/api/endpoints.h"
#include "server/api/known_events.h"
#include "server/api/route_helpers.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

ClientReportQuery read_query(QueryParams& params) {
  ClientReportQuery query;
  if (const auto month = params.month("month")) {
    query.month = *month;
  } else {
    params.reject("month", "is needed: month=2026-03");
  }
  query.by = params.text("by").value_or("");
  query.work = params.text("work").value_or(query.work);
  return query;
}

Result<std::vector<Table>> report(const Services& services, const Request& request,
                                  const ClientReportQuery& query) {
  const ScopedQueries queries(services, request);
  const std::vector<Budget> budgets = TRY(visible_budgets(services, queries.who()));
  const auto events = TRY(visible_events(services, queries.who()));
  const Date today =
      TRY(parse_date(local_date(services.clock.now(), services.config.policy.time_zone)));
  return ask_ledger(services, [&](Store& store) {
    return query_ledger_client_report(
        store, {.query = query, .budgets = budgets, .events = events, .today = today},
        services.config);
  });
}

}  // namespace

Response get_clients(const Services& services, const Request& request) {
  QueryParams params(request);
  const ClientReportQuery query = read_query(params);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto tables = report(services, request, query);
  if (!tables) return refusal(tables.error());
  return answer(*tables, format, to_text(hash_of(render_json(*tables))));
}

Response get_clients_report(const Services& services, const Request& request) {
  QueryParams params(request);
  const ClientReportQuery query = read_query(params);
  if (auto problem = params.problem()) return *std::move(problem);
  auto tables = report(services, request, query);
  if (!tables) return refusal(tables.error());
  auto bytes = render_client_report_pdf(query, *std::move(tables), services.config);
  if (!bytes) return refusal(bytes.error());
  Response response{.content_type = "application/pdf", .body = *std::move(bytes)};
  response.headers.emplace_back(
      "Content-Disposition", fmt::format("attachment; filename=\"clients-{}.pdf\"", query.month));
  return response;
}

}  // namespace pennyweight::api
