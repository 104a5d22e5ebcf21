// Posts reversals: charges that take back a charge of a closed month, from those who paid it.
//
// A reversal is not allocated: rules, labels and telemetry may have changed since the month was
// closed, but each owner must get back what they paid.
#pragma once

#include <vector>

#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ReversalPostings {
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;  // of the workloads in them, as in the closed month
};

// For each charge that takes another back: the postings of that charge in the closed month's run,
// with costs of the opposite sign and without time, which was reported then. Fails where the charge
// was never allocated.
Result<ReversalPostings> reverse_postings(Store& store, std::span<const Charge> charges);

// Moves the reversals out of `charges`; the others keep their order.
std::vector<Charge> extract_reversals(std::vector<Charge>& charges);

}  // namespace pennyweight
