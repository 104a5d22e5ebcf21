// A policy in plain English, for those who must agree to it and never read YAML.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace pennyweight {

struct PolicySection {
  std::string title;                   // "What a holder is charged by"
  std::vector<std::string> sentences;  // one for each rule, the formulas with their numbers
  bool operator==(const PolicySection&) const = default;
};

// The same sections for every policy, in one order; what a policy leaves out is said as well.
std::vector<PolicySection> policy_in_words(const Policy& policy);

}  // namespace pennyweight
