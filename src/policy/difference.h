// What differs between two policies: rule by rule in words, and in their canonical texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace pennyweight {

struct DifferentLine {
  enum class Side { kBefore, kAfter } side;
  std::string line;
  bool operator==(const DifferentLine&) const = default;
};

struct DifferentSection {
  std::string title;                 // of policy_in_words()
  std::vector<DifferentLine> lines;  // sentences that only one of the policies has
  bool operator==(const DifferentSection&) const = default;
};

struct PolicyDifference {
  std::vector<DifferentSection> in_words;
  std::vector<DifferentLine> text;  // lines of Policy::text()
  bool operator==(const PolicyDifference&) const = default;
};

// ENSURES: nothing in it exactly where the texts are the same.
PolicyDifference difference(const Policy& before, const Policy& after);

// The lines to take out and to put in, in order, as few as there can be.
std::vector<DifferentLine> different_lines(std::span<const std::string> before,
                                           std::span<const std::string> after);

}  // namespace pennyweight
