// The JSON Schema of the policy, docs/schema/policy.schema.json, as it was when the program was
// built (cmake/embed.cmake). A test holds it and the reader to the same keys.
#pragma once

#include <string_view>

namespace pennyweight::embedded {

std::string_view policy_schema_json();

}  // namespace pennyweight::embedded
