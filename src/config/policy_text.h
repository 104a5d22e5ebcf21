// The policy of an earlier run, read back from the text that the run keeps (Policy::text).
#pragma once

#include <string_view>

#include "core/error.h"
#include "policy/policy.h"

namespace pennyweight {

// ENSURES: the result's text() is `text`.
Result<Policy> parse_policy_text(std::string_view text);

}  // namespace pennyweight
