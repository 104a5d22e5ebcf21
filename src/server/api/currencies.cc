// GET /api/v1/currencies: the currencies that amounts can be shown in, and the exchange rates of a
// month.
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "config/config.h"
#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"

namespace pennyweight::api {

using server::Request;
using server::Response;

Response get_currencies(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  QueryParams params(request);
  const std::optional<Currency> report = services.config.currencies.report;
  const std::string month = params.month("month").value_or("");
  queries.convert_to(read_currency(params, report));
  if (auto problem = params.problem()) return *std::move(problem);

  SummaryQuery query;
  if (!month.empty()) query.filters = {{"month", {month}, false}};
  const auto rows = queries.summarise_as_billed(query);
  if (!rows) return refusal(rows.error());
  std::set<std::string> billed;
  for (const SummaryRow& row : *rows) billed.insert(row.costs.currency().text());
  std::set<std::string> convertible;
  std::optional<std::string> missing;
  if (services.rates) {
    const auto rates = services.rates();
    if (rates) {
      for (const std::string& code : rate_currencies(*rates)) convertible.insert(code);
    } else {
      missing = rates.error().message;
    }
  }
  // What the pages of this month will be converted at, or why they can't be.
  if (!month.empty()) {
    const auto converted = queries.summarise(query);
    if (!converted) missing = converted.error().message;
  }

  const auto last = month.empty() ? Result<std::optional<std::chrono::sys_days>>(std::nullopt)
                                  : queries.last_day(month);
  if (!last) return refusal(last.error());
  const auto list = [](const std::set<std::string>& codes) {
    return std::vector<std::string>(codes.begin(), codes.end());
  };
  JsonWriter out;
  out.begin_object();
  out.field("report", report ? std::optional(report->text()) : std::nullopt);
  const auto shown = queries.currency();
  out.field("shown", shown ? std::optional(shown->text()) : std::nullopt);
  out.texts("billed", list(billed)).texts("convertible", list(convertible));
  out.texts("rates", queries.rates()).field("missing", missing).key("as_of");
  if (*last) {
    out.value(Date(**last));
  } else {
    out.null();
  }
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
