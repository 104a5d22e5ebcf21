// GET /api/v1/dimensions and /api/v1/dimensions/{name}/values: for choosers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/cost_asked.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "config/config.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

struct Dimension {
  std::string name;
  bool is_built_in;
};

std::vector<Dimension> dimensions_of(const Policy& policy) {
  std::vector<Dimension> all;
  for (const DimensionRule& rule : policy.dimensions) all.push_back({rule.dimension, false});
  for (const char* name : kBuiltInDimensions) {
    if (std::ranges::find(all, name, &Dimension::name) == all.end()) all.push_back({name, true});
  }
  return all;
}

Response list_dimensions(const Parts& parts, const Request& request) {
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  return list(dimensions_of(parts.config.policy), std::nullopt,
              [](JsonWriter& out, const Dimension& dimension) {
                out.begin_object()
                    .field("name", dimension.name)
                    .field("kind", dimension.is_built_in ? "built_in" : "policy")
                    .end_object();
              });
}

Response list_values(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  const std::string name = request.param("name");
  Asked asked(request);
  SummaryQuery query;
  select(asked, parts.config.policy, query);
  const std::string prefix = asked.text("prefix").value_or("");
  const std::size_t limit = asked.number("limit", 1, kPageMax).value_or(kPageDefault);
  if (auto no = asked.refused()) return *std::move(no);
  const std::vector<Dimension> known = dimensions_of(parts.config.policy);
  if (std::ranges::find(known, name, &Dimension::name) == known.end()) {
    return not_found(fmt::format("there is no dimension '{}'", name));
  }
  if (name == "charge") {
    return server::problem(422, "Bad parameter",
                           "Bill lines are too many to choose from; /reconcile/lines lists them.");
  }
  const std::string etag = desk.etag(request);
  if (has_already(request, etag)) return unchanged(etag);
  const auto values = desk.values_of(query, name, prefix, limit);
  if (!values) return refusal(values.error());
  return list(
      *values, std::nullopt,
      [](JsonWriter& out, const rollup::Rollup::Value& value) {
        out.begin_object()
            .field("value", value.value)
            .field("currency", value.effective.currency().text())
            .field("effective_cost", to_text(value.effective.amount()))
            .end_object();
      },
      etag);
}

}  // namespace

std::vector<server::Route> dimension_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/dimensions",
           .handler = [&parts](const Request& request) { return list_dimensions(parts, request); },
           .needs = "read_costs"},
          {.method = "GET",
           .path = "/api/v1/dimensions/{name}/values",
           .handler = [&parts](const Request& request) { return list_values(parts, request); },
           .needs = "read_costs"}};
}

}  // namespace pennyweight::api
