// What the ledger adds to an estimate: whose each workload is, what their budgets have left after
// it, and what similar workloads really cost.
#pragma once

#include <string>
#include <vector>

#include "app/context/context.h"
#include "core/error.h"
#include "insight/guardrails/estimate.h"
#include "reporting/table.h"

namespace pennyweight {

// `by`: the dimension of owners. Opens the ledger. An Error: it can't be read, or the policy has no
// such dimension.
Result<std::vector<Table>> estimate_history(const guardrails::Estimate& estimate,
                                            const std::string& by, Context& context);

}  // namespace pennyweight
