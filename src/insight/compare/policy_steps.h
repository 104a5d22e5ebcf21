// Turns one policy into another, one rule at a time, to attribute a difference in cost to rules.
//
// The cost of each step depends on the order of the steps, so the order is fixed: basis, weights,
// sharing rules, node split, overhead, spread, owners, days. Each step is a complete policy and
// runs like any other. The differences between neighbours add up to the whole exactly.
#pragma once

#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "insight/compare/preset.h"

namespace pennyweight {

struct PolicyStep {
  std::string_view reason;  // the rule that the step changes; a literal
  Policy policy;            // with this and all earlier changes towards `to`
};

// Only steps that change something; none where the policies differ in their names only.
std::vector<PolicyStep> policy_steps(const Policy& from, const Policy& to);

// The policy closest to a preset: by request, with the preset's node split, nothing spread.
Policy nearest_policy(Preset preset, const Policy& from);

}  // namespace pennyweight
