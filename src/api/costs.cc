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

  std::size_t rows_max = format == AnswerFormat::kJson ? kRowsMax : kStreamedRowsMax;
  const auto tables = ask_costs(
      *plan,
      [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
        auto rows = desk.summarise(query);
        // Owners beyond `top` are one row, so what is shown is less.
        if (rows && plan->report.top) return rows;
        if (rows && rows->size() > rows_max) {
          return fail(ErrorCode::kUnsupported,
                      fmt::format("the answer has {} rows, and at most {} are given: filter, group "
                                  "by less, or ask for format=csv or jsonl",
                                  rows->size(), rows_max));
        }
        return rows;
      },
      [&](const Currency& foreign) { return rates_for(parts, foreign); },
      {.days_valid_max = config.currencies.days_valid_max, .pivot = config.currencies.pivot});
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
