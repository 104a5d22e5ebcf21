// Rules that can never decide anything, since an earlier one decides all that they could.
#pragma once

#include <cstddef>
#include <vector>

#include "policy/policy.h"

namespace pennyweight {

struct UnreachableRule {
  enum class List { kSharing, kNodeSplits, kOverhead, kSpread, kOwners };
  List list;
  std::size_t rule;     // its place in the list
  std::size_t earlier;  // the rule that takes everything first
  bool operator==(const UnreachableRule&) const = default;
};

// By list, then rule. A rule is found where one earlier rule covers it, as conditions are written:
// no names of labels are guessed at, and rules that only together cover a later one are not seen.
std::vector<UnreachableRule> unreachable_rules(const Policy& policy);

}  // namespace pennyweight
