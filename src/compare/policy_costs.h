// What a policy makes of a month: allocate() and distribute() over all its clusters, added up.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocate/seen.h"
#include "compare/part.h"
#include "compare/places.h"
#include "core/error.h"
#include "ledger/correction.h"
#include "ledger/outage.h"
#include "policy/policy.h"

namespace pennyweight {

// One cluster's month with all that a policy may ask about it.
struct ComparedCluster {
  ClusterMonth facts;
  std::span<const Outage> outages = {};
  std::span<const Correction> corrections = {};
  // Telemetry under these rules, from the beginning again; may be empty.
  std::function<SeenSource(const UsageRules&)> seen = {};
};

struct PolicyCostsOptions {
  std::string month;
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
  // Of each cluster: the lines that a preset leaves out, which then are a cause of their own.
  std::vector<std::set<FactId>> left_out = {};
};

// In the order of `clusters`. The scope of no cluster may be among them: it knows what owners paid
// in the others.
Result<std::vector<Divided>> policy_costs(std::span<const ComparedCluster> clusters,
                                          const Policy& policy, const PolicyCostsOptions& options);

}  // namespace pennyweight
