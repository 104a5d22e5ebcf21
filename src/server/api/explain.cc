// GET /api/v1/explain: how an amount comes about.
#include <utility>

#include "config/config.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kPostingsMax = 1000;

}  // namespace

Response get_explanation(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  ExplainQuery query;
  query.charge = params.text("charge").value_or("");
  if (const auto by = params.name_list("by"); !by.empty()) query.by = by;
  const auto key = params.text("key");
  query.key = key.value_or("");
  query.dates = read_dates(params);
  query.top = params.number("top", 1, kPostingsMax).value_or(query.top);
  if (query.charge.empty() == !key.has_value()) {
    params.reject(key ? "charge" : "key", "say what to explain: charge, or by and key");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  const auto result = queries.explain(std::move(query));
  if (!result) return refusal(result.error());
  JsonWriter out;
  out.begin_object().key("postings");
  write_table(out, result->table);
  out.key("explanation").begin_list();
  for (const OutlineSection& section : outline_explanation(result->explanation)) {
    out.begin_object().field("title", section.title).key("facts").begin_list();
    for (const auto& [name, value] : section.facts) {
      out.begin_object().field("name", name).field("value", value).end_object();
    }
    out.end_list().end_object();
  }
  out.end_list().field("exact", result->explanation.exact).texts("warnings", result->warnings);
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
