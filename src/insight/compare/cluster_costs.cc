#include "insight/compare/cluster_costs.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

#include "allocation/allocate.h"
#include "core/try.h"

namespace pennyweight {
namespace {

struct FactsOfCluster {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Outage> outages;
};

}  // namespace

Result<MethodCosts> cluster_costs(const ComparedCluster& month, std::span<const ClusterId> clusters,
                                  const Policy& policy, const PolicyCostsOptions& options) {
  const ClusterMonth& all = month.facts;
  std::map<ClusterId, FactsOfCluster> facts;
  for (const ClusterId& cluster : clusters) facts.try_emplace(cluster);
  const std::vector<ClusterId> assigned = assign_clusters(all.charges, all.nodes, all.join_rules);
  for (std::size_t i = 0; i < all.charges.size(); ++i) {
    const auto of = facts.find(assigned[i]);
    if (of == facts.end()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the charge of {} is of no cluster that is replayed, so who pays it "
                              "is not known",
                              all.charges[i].resource_id));
    }
    of->second.charges.push_back(all.charges[i]);
  }
  for (const Node& node : all.nodes) facts[node.cluster].nodes.push_back(node);
  for (const Gpu& gpu : all.gpus) facts[gpu.cluster].gpus.push_back(gpu);
  for (const Holding& holding : all.holdings) facts[holding.cluster].holdings.push_back(holding);
  for (const Outage& outage : month.outages) facts[outage.cluster].outages.push_back(outage);
  MethodCosts sum{all.cluster, {}, {}};
  for (const ClusterId& cluster : clusters) {
    const FactsOfCluster& of = facts.at(cluster);
    const ComparedCluster one{.facts = {.cluster = cluster,
                                        .charges = of.charges,
                                        .nodes = of.nodes,
                                        .gpus = of.gpus,
                                        .holdings = of.holdings,
                                        .catalog = all.catalog,
                                        .join_rules = all.join_rules},
                              .outages = of.outages};
    std::vector<MethodCosts> costs = TRY(policy_costs(std::span(&one, 1), policy, options));
    std::ranges::move(costs.front().parts, std::back_inserter(sum.parts));
    sum.owners.merge(costs.front().owners);
  }
  return sum;
}

}  // namespace pennyweight
