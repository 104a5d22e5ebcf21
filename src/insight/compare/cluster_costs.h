// cluster_costs(): divides a month of several clusters that were replayed together, each cluster by
// itself, as the ledger does: what is shared in one cluster is not paid by the owners of another.
#pragma once

#include <span>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "insight/compare/policy_costs.h"

namespace pennyweight {

// One sum of all clusters. Holdings of several clusters have names of their own. kUnsupported where
// a charge is of none of the clusters.
Result<MethodCosts> cluster_costs(const ComparedCluster& month, std::span<const ClusterId> clusters,
                                  const Policy& policy, const PolicyCostsOptions& options);

}  // namespace pennyweight
