// Restatements: what later deliveries changed, both versions, where it is booked, and why.
#include "reporting/queries/restatements.h"

#include "core/hash.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {
server::Response get_restatements(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto found = ask_ledger(
      services, [&](Store& store) { return query_restatements(store, month.value_or("")); });
  if (!found) return refusal(found.error());
  const std::vector<Table> tables = found->tables();
  return answer(tables, format, to_text(hash_of(render_json(tables))));
}

}  // namespace pennyweight::api
