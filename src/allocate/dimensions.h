// The dimensions of workloads: owner rules and label rules applied.
//
// A dimension is settled once, by the first that has a value for it: the owner rules, those of a
// higher priority first and among equals the earlier; then the labels of its dimension rule, in
// their order; then what that rule derives of a label; then its fallback. So a rule of a lower
// priority, a default for the whole cluster say, fills in what none above it has set, and never
// overrides.
#pragma once

#include "core/id.h"
#include "core/label.h"
#include "policy/policy.h"

namespace pennyweight {

// The conditions of owner rules look at the workload's labels and at these names, which hide labels
// of the same name: "workload", "cluster", and "dimension:team" for the value that an owner rule
// before has settled (not one that only a label or a fallback will give).
// An empty value, of a label or in a rule, is none: a dimension without a value is left out.
Labels dimensions_of(const ClusterId& cluster, const WorkloadId& workload, const Labels& labels,
                     const Policy& policy);

}  // namespace pennyweight
