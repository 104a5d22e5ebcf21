// explain_sharing(): explains how a device was shared: the rule that applied, the other holders,
// and what each interval gave. For idle cost it explains why nobody used the device.
#pragma once

#include <vector>

#include "allocation/explain.h"

namespace pennyweight {

struct SharingExplanation {
  std::vector<ExplanationStep> steps;
  bool exact = true;  // the traced amounts equal the posting's weight, to the unit
};

// REQUIRES: input.facts, and a posting that names a node.
SharingExplanation explain_sharing(const ExplanationInput& input);

}  // namespace pennyweight
