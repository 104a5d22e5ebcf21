// What the API says of itself: the OpenAPI document that tools/openapi.py merges from
// docs/api/openapi, part of the program; and what it says as values, so that a test can hold the
// routes to it.
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

// Of a document as the embedded one is, by path, then method.
Result<std::vector<Operation>> operations_of(std::string_view document);

// GET /api/v1/openapi.json, open: it says nothing that the source does not.
server::Route openapi_route();

}  // namespace pennyweight::api
