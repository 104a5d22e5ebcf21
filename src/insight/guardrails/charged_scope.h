// ChargedScope: whether work that has not run yet will be charged to what a budget or a limit
// counts.
//
// The ledger charges work by the dimensions of the policy, which may take the team from a label,
// the account, the namespace or the QOS. So what is asked here is what the policy would make of the
// work, as far as that is known before it runs: not on which node or cluster it will be, nor what
// labels its namespace has.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/dimensions.h"
#include "allocation/policy/policy.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::guardrails {

// The values of a dimension that a budget counts, or all others.
struct BudgetScopeTerm {
  std::string dimension;
  std::vector<std::string> values = {};
  bool negate = false;
  bool operator==(const BudgetScopeTerm&) const = default;
};

using LabelMap = std::map<std::string, std::string, std::less<>>;

// What is known of it before it runs.
struct PlannedWork {
  bool is_slurm_job = false;
  std::string_view name_space = {};
  std::string_view name = {};
  const LabelMap& labels;
};

PlannedDimensions planned_dimensions(const PlannedWork& work, const Policy& policy);
PlannedDimensions planned_dimensions(const manifests::WorkloadRequest& work, const Policy& policy);

enum class Charged { kNo, kYes, kUnknown };

// Whether it meets all terms. What is no dimension of the policy, such as the node, is not known.
Charged is_charged(const PlannedDimensions& dimensions, std::span<const BudgetScopeTerm> scope);

}  // namespace pennyweight::guardrails
