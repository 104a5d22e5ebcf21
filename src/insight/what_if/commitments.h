// Commitments of a scenario: what the bill would be if some had ended, or been exchanged for
// another one, at a moment of the month.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/compare/policy_costs.h"
#include "insight/what_if/scenario.h"
#include "ledger/charge.h"

namespace pennyweight::what_if {

// From the moment on, usage that the commitment covered (CommitmentDiscountStatus Used) is billed
// at its contracted cost, which FOCUS defines as the cost without the commitment, or at a
// percentage of that; what the bill says that the commitment was not used for, and fees that recur,
// are gone. What was paid at once stays paid. A charge that contains the moment is cut there, by
// time. An Error where no charge is of the commitment after that moment, and kUnsupported where the
// bill has no contracted cost of what it covered.
Result<std::vector<Charge>> change_commitments(std::vector<Charge> charges,
                                               const std::vector<CommitmentChange>& changes,
                                               const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
