// GET /api/v1/dimensions and /api/v1/dimensions/{name}/values: for selection lists. GET
// /api/v1/search: values of any dimension by a part of them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/config.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"

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

// What search looks through besides the dimensions of the policy.
constexpr std::string_view kSearchedDimensions[] = {"workload", "node",    "cluster",    "resource",
                                                    "service",  "account", "sub_account"};
constexpr std::size_t kSearchedValuesMax = 200'000;
constexpr std::size_t kFoundPerDimension = 6;
constexpr std::size_t kSearchTextMin = 2;

}  // namespace

Response get_search(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  const std::string text = params.required("text");
  SummaryQuery query;
  read_selection(params, policy, query);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const std::size_t limit = params.number("limit", 1, kPageMax).value_or(kFoundPerDimension);
  if (!text.empty() && text.size() < kSearchTextMin) params.reject("text", "at least 2 characters");
  if (auto problem = params.problem()) return *std::move(problem);
  std::vector<std::string> names;
  for (const DimensionRule& rule : policy.dimensions) names.push_back(rule.dimension);
  for (const std::string_view name : kSearchedDimensions) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  struct Match {
    std::string dimension;
    rollup::Rollup::Value value;
  };
  std::vector<Match> all;
  for (const std::string& name : names) {
    auto values = queries.values_of(query, name, "", kSearchedValuesMax);
    if (!values) return refusal(values.error());
    std::size_t found = 0;
    for (rollup::Rollup::Value& value : *values) {
      if (found == limit) break;
      if (!has_part(value.value, text)) continue;
      ++found;
      all.push_back({name, std::move(value)});
    }
  }
  return list(all, std::nullopt, [](JsonWriter& out, const Match& found) {
    out.begin_object()
        .field("dimension", found.dimension)
        .field("value", found.value.value)
        .field("currency", found.value.effective.currency().text())
        .field("effective_cost", to_text(found.value.effective.amount()))
        .end_object();
  });
}

Response get_dimensions(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  return list(dimensions_of(services.config.policy), std::nullopt,
              [](JsonWriter& out, const Dimension& dimension) {
                out.begin_object()
                    .field("name", dimension.name)
                    .field("kind", dimension.is_built_in ? "built_in" : "policy")
                    .end_object();
              });
}

Response get_dimension_values(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const std::string name = request.param("name");
  QueryParams params(request);
  SummaryQuery query;
  read_selection(params, services.config.policy, query);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const std::string prefix = params.text("prefix").value_or("");
  const std::size_t limit = params.number("limit", 1, kPageMax).value_or(kPageDefault);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::vector<Dimension> known = dimensions_of(services.config.policy);
  if (std::ranges::find(known, name, &Dimension::name) == known.end()) {
    return not_found(fmt::format("there is no dimension '{}'", name));
  }
  if (name == "charge") {
    return server::problem(422, "Bad parameter",
                           "There are too many charges to list here; use /reconcile/lines.");
  }
  const std::string etag = queries.etag(request);
  if (client_has(request, etag)) return not_modified(etag);
  const auto values = queries.values_of(query, name, prefix, limit);
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

}  // namespace pennyweight::api
