// The dimensions of workloads: label rules applied.
#pragma once

#include <span>

#include "core/label.h"
#include "policy/policy.h"

namespace pennyweight {

// One value for each rule, in the rules' order of precedence: the first label that is there and not
// empty, else the rule's fallback.
Labels dimensions_of(const Labels& labels, std::span<const DimensionRule> rules);

}  // namespace pennyweight
