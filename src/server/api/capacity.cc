// GET /capacity: when GPUs run out, how many are unused, and what to buy or let go.
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/hash.h"
#include "insight/queries/capacity_query.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {

server::Response get_capacity(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto cluster = params.text("cluster");
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  CapacityQuery query{.now = services.clock.now(), .zone = services.config.policy.time_zone};
  query.join_rules = services.config.join_rules;
  if (cluster) query.clusters.push_back(*cluster);
  for (const CommitmentEnd& one : services.config.alerts.commitments) {
    query.ends.push_back({one.id, one.ends});
  }
  const auto result =
      ask_ledger(services, [&](Store& store) { return query_capacity(store, query); });
  // A fleet without GPUs: an answer without tables, not an error.
  if (!result && result.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!result) return refusal(result.error());
  const std::vector<Table> tables = capacity_tables(*result);
  return answer(tables, format, to_text(hash_of(render_json(tables))));
}

}  // namespace pennyweight::api
