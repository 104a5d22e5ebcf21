// Shows what differs between two policies: rule by rule in plain English, and in their canonical
// texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"

namespace pennyweight {

struct ChangedLine {
  enum class Side { kBefore, kAfter } side;
  std::string line;
  bool operator==(const ChangedLine&) const = default;
};

struct ChangedSection {
  std::string title;               // of policy_in_words()
  std::vector<ChangedLine> lines;  // sentences that only one of the policies has
  bool operator==(const ChangedSection&) const = default;
};

struct PolicyDifference {
  std::vector<ChangedSection> in_words;
  std::vector<ChangedLine> text;  // lines of Policy::text()
  bool operator==(const PolicyDifference&) const = default;
};

// ENSURES: it is empty exactly where the texts are the same.
PolicyDifference diff_policies(const Policy& before, const Policy& after);

// The lines to remove and to add, in order, as few as possible.
std::vector<ChangedLine> diff_lines(std::span<const std::string> before,
                                    std::span<const std::string> after);

}  // namespace pennyweight
