// GET /api/v1/costs: what it costs, by any dimensions.
#include <fmt/format.h>

#include <utility>

#include "api/cost_asked.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/tables.h"
#include "config/config.h"
#include "core/hash.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

Result<ExchangeRates> rates_for(const Parts& parts, const Currency& foreign) {
  if (parts.rates) return parts.rates();
  return fail(ErrorCode::kUnsupported,
              fmt::format("there are costs in {}, and no exchange rates are configured "
                          "(currencies.rates); ask for currency=original",
                          foreign.text()));
}

rollup::Cost kept_cost(CostColumn cost) {
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

Result<std::optional<FirstOwners>> first_owners(const Desk& desk, const SummaryQuery& query,
                                                const CostReport& report) {
  rollup::OwnersAsked asked{
      .costs = {}, .by_key = report.sort == CostSort::kKey, .count = report.top.value_or(0)};
  for (const CostColumn cost : report.costs) asked.costs.push_back(kept_cost(cost));
  auto kept = desk.owners(query, asked);
  if (!kept) return std::unexpected(kept.error());
  if (!*kept) return std::nullopt;
  FirstOwners first{std::move((*kept)->rows), {}};
  for (rollup::Owners::Others& others : (*kept)->others) {
    first.others.push_back({std::move(others.sum), others.count});
  }
  return first;
}

Response costs(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  const Config& config = parts.config;
  Asked asked(request);
  const CostQuestion question = cost_question(asked, config.policy, config.currencies.report);
  const AnswerFormat format = format_of(asked, request, true);
  if (auto no = asked.refused()) return *std::move(no);
  const auto plan = plan_costs(question, config.policy);
  if (!plan) return refusal(plan.error());

  // What is converted depends on a file of rates that may change under us.
  const std::string etag = plan->currency ? "" : desk.etag(request);
  if (has_already(request, etag)) return unchanged(etag);

  const std::size_t rows_max = format == AnswerFormat::kJson ? kRowsMax : kStreamedRowsMax;
  const auto tables = ask_costs(
      *plan,
      [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
        // Owners beyond `top` are one row, so what is shown is less.
        if (plan->report.top) return desk.summarise(query);
        auto found = desk.summarise(query, rows_max);
        if (!found) return std::unexpected(found.error());
        if (found->all <= rows_max) return std::move(found->rows);
        return fail(ErrorCode::kUnsupported,
                    fmt::format("the answer has {} rows, and at most {} are given: filter, group "
                                "by less, or ask for format=csv or jsonl",
                                found->all, rows_max));
      },
      [&](const Currency& foreign) { return rates_for(parts, foreign); },
      {.days_valid_max = config.currencies.days_valid_max, .pivot = config.currencies.pivot},
      [&](const SummaryQuery& query, const CostReport& report) {
        return first_owners(desk, query, report);
      });
  if (!tables) return refusal(tables.error());
  if (format == AnswerFormat::kParquet && tables->empty()) {
    return not_found("no posting matches the filters and dates");
  }
  return answer(*std::move(tables), format, etag);
}

}  // namespace

std::vector<server::Route> cost_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/costs",
           .handler = [&parts](const Request& request) { return costs(parts, request); },
           .needs = "read_costs"}};
}

}  // namespace pennyweight::api
