// GET /api/v1/costs: costs by any dimensions.
#include <fmt/format.h>

#include <utility>

#include "config/config.h"
#include "core/hash.h"
#include "core/try.h"
#include "server/api/cost_params.h"
#include "server/api/cost_tables.h"
#include "server/api/downloads.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

rollup::Cost rollup_cost(CostColumn cost) {
  switch (cost) {
    case CostColumn::kEffective:
      return rollup::Cost::kEffective;
    case CostColumn::kBilled:
      return rollup::Cost::kBilled;
    case CostColumn::kList:
      return rollup::Cost::kList;
    case CostColumn::kContracted:
      return rollup::Cost::kContracted;
  }
  return rollup::Cost::kEffective;
}

Result<std::optional<TopOwners>> first_owners(const ScopedQueries& queries,
                                              const SummaryQuery& query, const CostReport& report) {
  rollup::OwnersRequest params{
      .costs = {}, .by_key = report.sort == CostSort::kKey, .count = report.top.value_or(0)};
  for (const CostColumn cost : report.costs) params.costs.push_back(rollup_cost(cost));
  auto from_rollup = queries.owners(query, params);
  if (!from_rollup) return std::unexpected(from_rollup.error());
  if (!*from_rollup) return std::nullopt;
  TopOwners first{std::move((*from_rollup)->rows), {}};
  for (rollup::TopOwners::Remainder& others : (*from_rollup)->others) {
    first.others.push_back({std::move(others.sum), others.count});
  }
  return first;
}

}  // namespace

Result<std::vector<Table>> cost_tables(const Services& services, const ScopedQueries& queries,
                                       const CostPlan& plan, std::size_t rows_max) {
  const Config& config = services.config;
  return query_costs(
      plan,
      [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
        // Owners beyond `top` are one row, so the answer has fewer rows.
        if (plan.report.top) return queries.summarise(query);
        auto found = TRY(queries.summarise(query, rows_max));
        if (found.all <= rows_max) return std::move(found.rows);
        return fail(ErrorCode::kUnsupported,
                    fmt::format("the answer has {} rows, more than the limit of {}: filter, group "
                                "by fewer dimensions, or use format=csv or jsonl",
                                found.all, rows_max));
      },
      [&](const Currency& foreign) { return configured_rates(services, foreign); },
      {.days_valid_max = config.currencies.days_valid_max, .pivot = config.currencies.pivot},
      [&](const SummaryQuery& query, const CostReport& report) {
        return first_owners(queries, query, report);
      });
}

Response get_costs(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  const Config& config = services.config;
  QueryParams params(request);
  const CostQuery cost_query = read_cost_query(params, config.policy, config.currencies.report);
  const AnswerFormat format = choose_format(params, request, true);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto plan = plan_cost_query(cost_query, config.policy);
  if (!plan) return refusal(plan.error());

  // Converted amounts depend on a file of rates that may change at any time.
  const std::string etag = plan->currency ? "" : queries.etag(request);
  if (client_has(request, etag)) return not_modified(etag);

  Downloads::Turn turn;
  if (format != AnswerFormat::kJson) {
    turn = services.downloads->take(request);
    if (!turn) return no_turn();
  }
  const std::size_t rows_max = format == AnswerFormat::kJson ? kRowsMax : kStreamedRowsMax;
  auto tables = cost_tables(services, queries, *plan, rows_max);
  if (!tables) return refusal(tables.error());
  if (format == AnswerFormat::kParquet && tables->empty()) {
    return not_found("no posting matches the filters and dates");
  }
  return with_turn(answer(*std::move(tables), format, etag), std::move(turn));
}

}  // namespace pennyweight::api
