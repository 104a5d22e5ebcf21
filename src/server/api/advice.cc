// GET /api/v1/advice: what to change, and what it would save a month.
#include <utility>
#include <vector>

#include "config/config.h"
#include "insight/queries/advice_query.h"
#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {

using server::Request;
using server::Response;

Response get_advice(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  AdviceQuery query;
  query.month = params.month("month").value_or("");
  query.cluster = params.text("cluster").value_or("");
  if (const auto kind = params.text("kind")) query.kinds = {*kind};
  query.team = params.text("team").value_or("");
  query.effort = params.text("effort").value_or("");
  query.sure = params.text("sure").value_or("");
  query.cost = params.choice("cost", {"effective", "billed", "list", "contracted"});
  query.prices_at = params.date("prices_as_of")
                        .transform([](Date day) { return Instant(day); })
                        .value_or(services.clock.now());
  const auto id = params.text("id");
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto result = queries.advice(query);
  if (!result) return refusal(result.error());
  if (!id) return answer(advice_tables(*result), format, "");
  auto detail = advice_detail(*result, *id);
  if (!detail) return refusal(detail.error());
  std::vector<Table> tables{*std::move(detail)};
  return answer(std::move(tables), format, "");
}

}  // namespace pennyweight::api
