// Tables of commitments: what was paid, used and left unused.
#pragma once

#include <span>
#include <vector>

#include "reporting/coverage/commitment_reconciliation.h"
#include "reporting/table.h"

namespace pennyweight {

// One table per currency with a row per commitment, and one by billing month where there are
// several months. Without `whole_ids`, ids are shortened to their last component.
std::vector<Table> commitment_tables(std::span<const CommitmentRow> terms,
                                     std::span<const CommitmentRow> months, bool whole_ids);

}  // namespace pennyweight
