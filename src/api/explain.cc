// GET /api/v1/explain: why an amount is what it is.
#include <utility>

#include "api/cost_asked.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/tables.h"
#include "config/config.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kPostingsMax = 1000;

Response explain(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  Asked asked(request);
  ExplainQuestion question;
  question.charge = asked.text("charge").value_or("");
  if (const auto by = asked.names("by"); !by.empty()) question.by = by;
  const auto key = asked.text("key");
  question.key = key.value_or("");
  question.dates = dates_of(asked);
  question.top = asked.number("top", 1, kPostingsMax).value_or(question.top);
  if (question.charge.empty() == !key.has_value()) {
    asked.wrong(key ? "charge" : "key", "say what to explain: charge, or by and key");
  }
  if (auto no = asked.refused()) return *std::move(no);
  const auto told = desk.explain(std::move(question));
  if (!told) return refusal(told.error());
  JsonWriter out;
  out.begin_object().key("postings");
  write_table(out, told->table);
  out.key("explanation").begin_list();
  for (const OutlineSection& section : outline_of(told->explanation)) {
    out.begin_object().field("title", section.title).key("facts").begin_list();
    for (const auto& [name, value] : section.facts) {
      out.begin_object().field("name", name).field("value", value).end_object();
    }
    out.end_list().end_object();
  }
  out.end_list().field("exact", told->explanation.exact).texts("warnings", told->warnings);
  out.end_object();
  return json(out);
}

}  // namespace

std::vector<server::Route> explain_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/explain",
           .handler = [&parts](const Request& request) { return explain(parts, request); },
           .needs = "read_costs"}};
}

}  // namespace pennyweight::api
