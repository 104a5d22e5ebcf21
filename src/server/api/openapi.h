// The OpenAPI document, which tools/openapi.py merges from docs/api/openapi and the build embeds in
// the program; and its operations as values, so that a test can compare them with the routes.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "server/server.h"

namespace pennyweight::embedded {
std::string_view openapi_json();
}  // namespace pennyweight::embedded

namespace pennyweight::api {

struct Operation {
  std::string method;      // "GET"
  std::string path;        // "/api/v1/runs"
  std::string permission;  // "read_rules", "signed_in", "open"
  std::string scoped;      // "cut", "same", "refused"
  auto operator<=>(const Operation&) const = default;
};

// The operations of such a document, by path, then method.
Result<std::vector<Operation>> read_operations(std::string_view document);

// GET /api/v1/openapi.json, open: it has nothing that the source does not have.
server::Route openapi_route();

}  // namespace pennyweight::api
