// GET /api/v1/coverage: how much of the GPU spend reaches an owner, and why the rest does not.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "config/config.h"
#include "reporting/coverage/coverage_tables.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kCoverageRowsMax = 1000;
constexpr std::uint64_t kCoverageRowsDefault = 10;

}  // namespace

Response get_coverage(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  CoverageQuery query;
  query.month = params.month("month").value_or("");
  std::vector<std::string> by = params.name_list("by");
  query.top = params.number("top", 1, kCoverageRowsMax).value_or(kCoverageRowsDefault);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const AnswerFormat format = choose_format(params, request, false);
  if (by.size() > kGroupByMax) params.reject("by", "too many dimensions");
  if (auto problem = params.problem()) return *std::move(problem);
  if (by.empty() && !policy.dimensions.empty()) by = {policy.dimensions.front().dimension};
  auto dimensions = covered_dimensions(by, policy);
  if (!dimensions) return refusal(dimensions.error());
  query.dimensions = *std::move(dimensions);
  const std::string period_label = month_label(query.month);
  const auto result = queries.coverage(std::move(query));
  if (!result) return refusal(result.error());
  std::vector<Table> tables = format == AnswerFormat::kJson
                                  ? coverage_tables(result->coverage, result->gaps, period_label)
                                  : coverage_rows(result->coverage);
  if (!tables.empty()) std::ranges::move(queries.rates(), std::back_inserter(tables.front().notes));
  return answer(std::move(tables), format, "");
}

}  // namespace pennyweight::api
