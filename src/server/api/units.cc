// GET /api/v1/units: the cost per request, per million tokens or per training job.
#include <utility>

#include "config/config.h"
#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kPerMax = 1'000'000'000'000;
constexpr std::uint64_t kUnitRowsMax = 10'000;
constexpr std::uint64_t kUnitRowsDefault = 1000;

}  // namespace

Response get_unit_costs(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  UnitCostQuery query;
  query.month = params.month("month").value_or("");
  if (const auto by = params.text("by")) query.by = *by;
  query.measures = params.name_list("measure");
  query.per = params.number("per", 1, kPerMax).value_or(0);
  query.jobs = params.boolean("jobs").value_or(false);
  query.top = params.number("top", 1, kUnitRowsMax).value_or(kUnitRowsDefault);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  if (const auto known = check_unit_cost_query(query, policy); !known)
    return refusal(known.error());
  auto tables = queries.units(std::move(query));
  // Nothing was counted or allocated: an answer without tables, not an error.
  if (!tables && tables.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!tables) return refusal(tables.error());
  return answer(*std::move(tables), format, "");
}

}  // namespace pennyweight::api
