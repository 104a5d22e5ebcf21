#include "server/api/openapi.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "core/ascii.h"
#include "core/hash.h"

namespace pennyweight::api {
namespace {

using simdjson::dom::element;

std::string text_of(const element& operation, const char* key) {
  std::string_view text;
  return operation[key].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

}  // namespace

Result<std::vector<Operation>> read_operations(std::string_view document) {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::object paths;
  if (parser.parse(simdjson::padded_string(document)).get(root) != simdjson::SUCCESS ||
      root["paths"].get(paths) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "the API's description has no paths");
  }
  std::vector<Operation> operations;
  for (const auto& [path, item] : paths) {
    simdjson::dom::object methods;
    if (item.get(methods) != simdjson::SUCCESS) {
      return fail(ErrorCode::kBadValue, fmt::format("the path {} has no operations", path));
    }
    for (const auto& [method, operation] : methods) {
      operations.push_back({.method = ascii::upper_case(method),
                            .path = std::string(path),
                            .permission = text_of(operation, "x-permission"),
                            .scoped = text_of(operation, "x-scoped")});
    }
  }
  std::ranges::sort(operations, [](const Operation& a, const Operation& b) {
    return std::tie(a.path, a.method) < std::tie(b.path, b.method);
  });
  return operations;
}

server::Route openapi_route() {
  return {.method = "GET",
          .path = "/api/v1/openapi.json",
          .open = true,
          .handler = [etag = to_text(hash_of(embedded::openapi_json()))](const server::Request&) {
            server::Response response{.content_type = "application/json",
                                      .body = std::string(embedded::openapi_json())};
            response.etag = '"' + etag + '"';
            return response;
          }};
}

}  // namespace pennyweight::api
