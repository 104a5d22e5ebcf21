// GET /api/v1/limits: how much of each limit is used this month.
#include <string>

#include "config/config.h"
#include "config/guardrail_config.h"
#include "insight/queries/limit_query.h"
#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {

server::Response get_limits(const Services& services, const server::Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto uses = ask_ledger(services, [&](Store& store) {
    return query_limits(services.config.guardrails->limits, services.clock.now(),
                        services.config.policy,
                        [&](const SummaryQuery& query) { return store.summarise(query); });
  });
  if (!uses) return refusal(uses.error());
  return answer(limit_tables(*uses), AnswerFormat::kJson, "");
}

}  // namespace pennyweight::api
