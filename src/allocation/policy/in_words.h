// Describes a policy in plain English, for readers who must agree to it and do not read YAML.
#pragma once

#include <string>
#include <vector>

#include "allocation/policy/policy.h"

namespace pennyweight {

struct PolicySection {
  std::string title;                   // "What a holder is charged by"
  std::vector<std::string> sentences;  // one for each rule, the formulas with their numbers
  bool operator==(const PolicySection&) const = default;
};

// Every policy has the same sections in the same order; rules that a policy does not have are
// mentioned too.
std::vector<PolicySection> policy_in_words(const Policy& policy);

}  // namespace pennyweight
