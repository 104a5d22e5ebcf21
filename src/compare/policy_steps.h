// From one policy to another, one rule at a time.
//
// What a change of policy costs a team is the sum of what each changed rule costs it, and which
// rule is changed first matters; so the order is fixed and stated: basis, weights, rules for some,
// node split, overhead, spread, owners, days. Each step is a policy of its own, which is run as any
// other, and the differences between neighbours add up to the whole exactly.
#pragma once

#include <string_view>
#include <vector>

#include "compare/preset.h"
#include "policy/policy.h"

namespace pennyweight {

struct PolicyStep {
  std::string_view reason;  // the rule that the step changes; a literal
  Policy policy;            // with it and all before it as in `to`
};

// Only steps that change something; none where both say the same (but for their names).
std::vector<PolicyStep> policy_steps(const Policy& from, const Policy& to);

// As near as a policy comes to a preset: by request, with the preset's node split, nothing spread.
Policy nearest_policy(Preset preset, const Policy& from);

}  // namespace pennyweight
