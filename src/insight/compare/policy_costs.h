// What a policy makes of a month: allocate() and distribute() over all clusters, added up.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/utilization.h"
#include "core/error.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/cost_part.h"
#include "ledger/correction.h"
#include "ledger/outage.h"

namespace pennyweight {

// One cluster's month with everything that a policy may read.
struct ComparedCluster {
  ClusterMonth facts;
  std::span<const Outage> outages = {};
  std::span<const Correction> corrections = {};
  // Returns the month's telemetry under these rules, from its begin; may be empty.
  std::function<UtilizationSource(const UsageRules&)> utilization = {};
};

// Whether who asked has given up: what takes long ends early then, with kIo. Empty: never.
using StopCheck = std::function<bool()>;

struct PolicyCostsOptions {
  std::string month;
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
  // By cluster: the charges that a preset leaves out, to be listed under a cause of their own.
  std::vector<std::set<FactId>> left_out = {};
  StopCheck is_stopped = {};  // asked before each day
};

// In the order of `clusters`. The scope of no cluster may be among them: it reads what owners paid
// in the others.
Result<std::vector<MethodCosts>> policy_costs(std::span<const ComparedCluster> clusters,
                                              const Policy& policy,
                                              const PolicyCostsOptions& options);

}  // namespace pennyweight
