// GET /api/v1/activity and /api/v1/usage: what workloads held, and what telemetry saw of it.
#include <fmt/format.h>

#include <utility>

#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

std::vector<std::string> read_by(QueryParams& params) {
  std::vector<std::string> by = params.name_list("by");
  if (by.size() > kGroupByMax) {
    params.reject("by", fmt::format("at most {} dimensions", kGroupByMax));
  }
  return by;
}

// With too many rows for one JSON document: a narrower question, or a stream of rows.
Response table_answer(Result<Table> table, AnswerFormat format) {
  if (!table) return refusal(table.error());
  if (format == AnswerFormat::kJson && table->rows.size() > kRowsMax) {
    return refusal({ErrorCode::kBadValue,
                    "the answer has too many rows for JSON; ask for fewer days or dimensions, or "
                    "for format=csv, jsonl or parquet"});
  }
  return answer({*std::move(table)}, format, "");
}

}  // namespace

Response get_activity(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  ActivityQuery query;
  query.by = read_by(params);
  query.filters = read_filters(params);
  query.dates = read_dates(params);
  query.step = params.choice("step", {"none", "day", "week", "month"});
  query.as = params.text("as").value_or("activity");
  const AnswerFormat format = choose_format(params, request, true);
  if (auto problem = params.problem()) return *std::move(problem);
  return table_answer(queries.activity(std::move(query)), format);
}

Response get_usage(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  UsageQuery query;
  if (auto by = read_by(params); !by.empty()) query.by = std::move(by);
  query.filters = read_filters(params);
  query.dates = read_dates(params);
  query.step = params.choice("step", {"none", "minute", "hour", "day", "week", "month"});
  query.show = params.choice("show", {"use", "health", "events"});
  const AnswerFormat format = choose_format(params, request, true);
  if (auto problem = params.problem()) return *std::move(problem);
  return table_answer(queries.usage(std::move(query)), format);
}

}  // namespace pennyweight::api
