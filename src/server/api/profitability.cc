// GET /profitability: what each client is charged for a month, what it cost, and the margin.
#include "core/hash.h"
#include "reporting/queries/invoices.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {

server::Response get_profitability(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const auto by = params.text("by");
  const AnswerFormat format = choose_format(params, request, false);
  if (!month) params.reject("month", "is needed: month=2026-03");
  if (auto problem = params.problem()) return *std::move(problem);
  const auto tables = ask_ledger(services, [&](Store& store) {
    return query_profitability(store, services.config, *month, by.value_or(""));
  });
  if (!tables) return refusal(tables.error());
  return answer(*tables, format, to_text(hash_of(render_json(*tables))));
}

}  // namespace pennyweight::api
