#include "server/api/scope.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pennyweight::api {
namespace {

LiveCosts cut(const LiveCosts& whole, const Scope& scope, const ClusterId& cluster) {
  LiveCosts own{.window = whole.window,
                .shares = {},
                .notes = {},
                .nodes_unpriced = 0,
                .price_per_hour = {},
                .gpus = 0,
                .node_prices = {}};
  for (const LiveShare& share : whole.shares) {
    if (share.workload.empty()) continue;
    if (sees(scope, cluster, share.workload, share.dimensions)) own.shares.push_back(share);
  }
  return own;
}

}  // namespace

bool sees(const Scope& scope, const ClusterId& cluster, const WorkloadId& workload,
          const Labels& dimensions) {
  return std::ranges::all_of(scope, [&](const SummaryFilter& part) {
    if (part.negate) return false;
    std::string_view value;
    if (part.dimension == "cluster") {
      value = cluster.text();
    } else if (part.dimension == "workload") {
      value = workload.text();
    } else if (const auto found = dimensions.find(part.dimension)) {
      value = *found;
    }
    // A workload without a value is never in the scope, not even if the scope lists "".
    return !value.empty() && std::ranges::find(part.values, value) != part.values.end();
  });
}

bool selects_whole_workloads(const Scope& scope, const Policy& policy) {
  return std::ranges::all_of(scope, [&](const SummaryFilter& part) {
    if (part.dimension == "cluster" || part.dimension == "workload") return true;
    return std::ranges::find(policy.dimensions, part.dimension, &DimensionRule::dimension) !=
           policy.dimensions.end();
  });
}

LiveView restrict_to_scope(const LiveView& view, const Scope& scope) {
  LiveView own{.at = view.at, .clusters = {}};
  for (const auto& [id, cluster] : view.clusters) {
    LiveCluster one{.cluster = id, .recent = cut(cluster.recent, scope, id), .today = {}};
    one.is_watched = cluster.is_watched;
    if (cluster.today) one.today = cut(*cluster.today, scope, id);
    EarlierCosts earlier;
    if (cluster.earlier) {
      for (const auto& [workload, cost] : *cluster.earlier) {
        if (workload.empty() || !sees(scope, id, workload, cost.dimensions)) continue;
        earlier.emplace(workload, cost);
      }
    }
    const bool has_today = one.today && !one.today->shares.empty();
    if (one.recent.shares.empty() && !has_today && earlier.empty()) continue;
    one.earlier = std::make_shared<const EarlierCosts>(std::move(earlier));
    own.clusters.emplace(id, std::move(one));
  }
  return own;
}

}  // namespace pennyweight::api
