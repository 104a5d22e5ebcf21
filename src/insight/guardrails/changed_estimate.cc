#include "insight/guardrails/changed_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/try.h"

namespace pennyweight::guardrails {
namespace {

using manifests::ReplicaGroup;
using manifests::WorkloadRequest;

// How long the longest of its replicas holds what it holds; absent: no limit is stated.
std::optional<std::uint64_t> longest_replica_ms(const WorkloadRequest& workload) {
  std::uint64_t longest = 0;
  for (const ReplicaGroup& group : workload.groups) {
    if (group.replicas == 0) continue;
    if (!group.replica_ms_max) return std::nullopt;
    longest = std::max(longest, *group.replica_ms_max / group.replicas);
  }
  return longest;
}

// Puts what claims of their own hold with each workload that uses them, since rules look at the
// workload's labels and kind. A claim that is used is no longer a workload of its own.
Result<bool> join_shared_claims(std::vector<WorkloadRequest>& workloads) {
  std::map<std::string, std::vector<ReplicaGroup>, std::less<>> claims;
  for (const WorkloadRequest& workload : workloads) {
    if (workload.kind != "ResourceClaim") continue;
    claims.emplace(workload.name_space + "/" + workload.name, workload.groups);
  }
  if (claims.empty()) return false;
  std::set<std::string, std::less<>> used;
  std::size_t joined = 0;
  for (WorkloadRequest& workload : workloads) {
    const auto own_ms = longest_replica_ms(workload);
    for (const std::string& name : workload.shared_claims) {
      const auto claim = claims.find(name);
      if (claim == claims.end()) continue;
      used.insert(name);
      joined += claim->second.size() * (1 + workload.parts.size());
      if (joined > kGroupsMax) {
        return fail(ErrorCode::kLimit,
                    fmt::format("claims that are shared belong to more than {} workloads and "
                                "components; estimate fewer files at once",
                                kGroupsMax));
      }
      for (ReplicaGroup group : claim->second) {
        group.name = "claim " + name.substr(name.find('/') + 1);
        group.replica_ms_max = own_ms;
        // Which component of an AppWrapper uses it is not told: each may.
        for (manifests::WorkloadPart& part : workload.parts) {
          part.groups.push_back(workload.groups.size());
        }
        workload.groups.push_back(std::move(group));
      }
    }
  }
  std::erase_if(workloads, [&](const WorkloadRequest& workload) {
    return workload.kind == "ResourceClaim" &&
           used.contains(workload.name_space + "/" + workload.name);
  });
  return !used.empty();
}

}  // namespace

Result<Estimate> estimate_changed(const Estimate& arrived, std::span<const GuardrailRule> rules,
                                  const Catalog& catalog, const EstimateOptions& options,
                                  const RuleContext& context) {
  manifests::ManifestReading reading{.unpriced = arrived.unpriced,
                                     .without_cost = arrived.without_cost,
                                     .cluster = arrived.cluster};
  for (const WorkloadEstimate& workload : arrived.workloads) {
    reading.workloads.push_back(workload.workload);
  }
  Estimate judged = arrived;
  const bool is_joined = TRY(join_shared_claims(reading.workloads));
  if (is_joined) {
    Estimate joined = TRY(estimate_workloads(reading, catalog, options));
    judged = std::move(joined);
  }
  bool is_changed = false;
  for (std::size_t i = 0; i < judged.workloads.size(); ++i) {
    const auto changes = changes_of(judged.workloads[i], rules, arrived.currency, context);
    apply_changes(changes, reading.workloads[i]);
    is_changed = is_changed || !changes.empty();
  }
  if (!is_changed) return judged;
  return estimate_workloads(reading, catalog, options);
}

}  // namespace pennyweight::guardrails
