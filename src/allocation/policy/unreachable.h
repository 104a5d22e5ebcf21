// Finds rules that can never apply, since an earlier one always applies first.
#pragma once

#include <cstddef>
#include <vector>

#include "allocation/policy/policy.h"

namespace pennyweight {

struct UnreachableRule {
  enum class List { kSharing, kNodeSplits, kOverhead, kSpread, kOwners };
  List list;
  std::size_t rule;     // its position in the list
  std::size_t earlier;  // the rule that always applies first
  bool operator==(const UnreachableRule&) const = default;
};

// By list, then rule. Only cases in which a single earlier rule covers the later one by its written
// conditions are found: no assumptions are made about labels, and several rules that cover a later
// one together are not recognised.
std::vector<UnreachableRule> unreachable_rules(const Policy& policy);

}  // namespace pennyweight
