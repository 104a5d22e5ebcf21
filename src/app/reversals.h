// Reversals: a line that takes back one of a closed month takes from each what he was charged.
//
// It is not divided anew: rules, label rules and telemetry may have changed since the month was
// closed, and what is given back must be what was taken.
#pragma once

#include <vector>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ReversalPostings {
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;  // of the workloads in them, as they were then
};

// Of those of `charges` that take a line back: the postings of that line in the run that the closed
// month has, each with costs of the other sign and without time, which was told once.
// An Error where such a line was never allocated.
Result<ReversalPostings> postings_of_reversals(Store& store, std::span<const Charge> charges);

// Takes the lines that take others back out of `charges`, which keep their order.
std::vector<Charge> take_reversals(std::vector<Charge>& charges);

}  // namespace pennyweight
