// What somebody who is bound to a scope may see of things that no query of the ledger has cut.
//
// Deny by default: what a scope says nothing of that can be checked here is not seen.
#pragma once

#include <string>
#include <vector>

#include "core/id.h"
#include "core/label.h"
#include "ledger/summary.h"
#include "live/view/live_lines.h"
#include "policy/policy.h"

namespace pennyweight::api {

using Scope = std::vector<SummaryFilter>;

// Whether all of a workload is in the scope: every part of it names a value that the workload has.
// Dimensions are those of the policy; `cluster` and `workload` are known too, others never match.
bool sees(const Scope& scope, const ClusterId& cluster, const WorkloadId& workload,
          const Labels& dimensions);

// Whether a scope tells whole workloads apart: by dimensions of the policy, clusters or workloads.
// One by nodes or kinds has parts of a workload in it and parts not.
bool is_of_workloads(const Scope& scope, const Policy& policy);

// The view without the workloads that are not in the scope, without what nobody holds, and without
// what is told of the whole cluster: its price, its size, its notes.
LiveView cut_to_scope(const LiveView& view, const Scope& scope);

}  // namespace pennyweight::api
