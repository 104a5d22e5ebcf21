// Resolves the dimensions of workloads (team, project, user) by owner rules and label rules.
//
// The first that has a value for a dimension sets it: the owner rules by descending priority, the
// earlier first among equals; then the labels of its dimension rule, in their order; then the value
// that the rule derives from a label; then its fallback. So a rule of lower priority, such as a
// default for the whole cluster, fills in what no rule above it has set, and never overrides.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/id.h"
#include "core/label.h"

namespace pennyweight {

// Conditions of owner rules read the workload's labels and these names, which hide labels of the
// same name: "workload", "cluster", and "dimension:team" for a value that an earlier owner rule has
// set (not one that only a label or fallback would give). An empty value counts as none: a
// dimension without a value is left out.
Labels resolve_dimensions(const ClusterId& cluster, const WorkloadId& workload,
                          const Labels& labels, const Policy& policy);

// The dimensions of work that has not run yet.
struct PlannedDimensions {
  Labels known;
  std::vector<std::string> unknown;  // whose value hangs on what is not known
  std::vector<std::string> unset;    // of the policy, known to have no value
  bool operator==(const PlannedDimensions&) const = default;
};

// As resolve_dimensions(), where some labels are not known, nor the workload's name and its
// cluster. REQUIRES: of a label that is given, `is_unknown` is not asked.
PlannedDimensions resolve_planned_dimensions(
    const Labels& labels, const std::function<bool(std::string_view key)>& is_unknown,
    const Policy& policy);

}  // namespace pennyweight
