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
  std::string_view user = {};  // of a job of Slurm, where it says so
  const LabelMap& labels;      // of its pods
};

PlannedDimensions planned_dimensions(const PlannedWork& work, const Policy& policy);

// A workload as a whole, by its own labels; lives as long as the workload.
PlannedWork planned_whole(const manifests::WorkloadRequest& workload);

// What of a workload is planned alone: a group of replicas, as part of the whole or of a component.
struct PlannedGroup {
  std::size_t group;  // index of the workload's
  PlannedWork work;   // lives as long as the workload
};
// Each group, and once for each component that it belongs to.
std::vector<PlannedGroup> planned_groups(const manifests::WorkloadRequest& workload);

enum class Charged { kNo, kYes, kUnknown };

// Whether it meets all terms. A dimension of the policy that has no value is empty; what is no
// dimension of it, such as the node, is not known.
Charged is_charged(const PlannedDimensions& dimensions, std::span<const BudgetScopeTerm> scope);
// Of work of several owners: kYes as soon as one of them is, kNo if none may be.
Charged is_charged(std::span<const PlannedDimensions> owners,
                   std::span<const BudgetScopeTerm> scope);

}  // namespace pennyweight::guardrails
