// Applies a scope to data that does not come from a query of the ledger.
//
// Deny by default: what can't be checked against the scope is hidden.
#pragma once

#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/id.h"
#include "core/label.h"
#include "ledger/summary.h"
#include "reporting/live/live_rows.h"

namespace pennyweight::api {

using Scope = std::vector<SummaryFilter>;

// Whether a whole workload is in the scope: every filter lists the workload's value. Known
// dimensions are those of the policy, `cluster` and `workload`; others never match.
bool sees(const Scope& scope, const ClusterId& cluster, const WorkloadId& workload,
          const Labels& dimensions);

// Whether a scope contains workloads as a whole: its dimensions are those of the policy, clusters
// or workloads. A scope by nodes or kinds contains only parts of workloads.
bool selects_whole_workloads(const Scope& scope, const Policy& policy);

// The view without workloads outside the scope, without unallocated capacity, and without data of
// the whole cluster: its price, its size, its notes.
LiveView restrict_to_scope(const LiveView& view, const Scope& scope);

}  // namespace pennyweight::api
