// The JSON Schema of the policy, docs/schema/policy.schema.json, embedded when the program is built
// (cmake/embed.cmake). A test checks that the reader knows the same keys.
#pragma once

#include <string_view>

namespace pennyweight::embedded {

std::string_view policy_schema_json();

}  // namespace pennyweight::embedded
