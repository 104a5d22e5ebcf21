// explain_sharing(): the part of an explanation that is about a device: the rule that applied, who
// else was there, and what every moment gave; and for idle, why nobody could or did have it.
#pragma once

#include <vector>

#include "allocate/explain.h"

namespace pennyweight {

struct SharingExplanation {
  std::vector<ExplanationStep> steps;
  bool exact = true;  // what was told again came to the posting's weight, to the unit
};

// REQUIRES: input.facts, and a posting that names a node.
SharingExplanation explain_sharing(const ExplanationInput& input);

}  // namespace pennyweight
