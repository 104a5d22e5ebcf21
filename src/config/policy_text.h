// Reads the policy of an earlier run from the text that the run stores (Policy::text).
#pragma once

#include <string_view>

#include "allocation/policy/policy.h"
#include "core/error.h"

namespace pennyweight {

// ENSURES: the result's text() is `text`.
Result<Policy> parse_policy_text(std::string_view text);

}  // namespace pennyweight
