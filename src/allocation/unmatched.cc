#include "allocation/unmatched.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "allocation/charge_kind.h"
#include "allocation/node_index.h"

namespace pennyweight {
namespace {

using NodeKey = std::pair<ClusterId, NodeId>;

bool is_there(const Node& node, const Interval& during) {
  return node.from < during.end() && (!node.to || *node.to > during.begin());
}

}  // namespace

Unmatched find_unmatched(const UnmatchedInput& input) {
  std::vector<const Node*> nodes;
  std::set<std::string> pools;
  for (const Node& node : input.nodes) {
    nodes.push_back(&node);
    if (!node.pool.empty()) pools.insert(node.pool.text());
  }
  const NodeIndex index(std::move(nodes), input.rules);

  std::set<NodeKey> billed;
  std::set<std::string> billed_pools;
  using ResourceKey = std::tuple<std::string, std::string, std::string, bool, Currency>;
  std::map<ResourceKey, UnmatchedResource> resources;
  for (const Charge& charge : input.charges) {
    const NodeMatch found = find_node(index, charge, [&](std::uint32_t at) {
      const Node& node = index.node(at);
      return (charge.cluster.empty() || node.cluster.text() == charge.cluster) &&
             is_there(node, charge.charge_period);
    });
    if (!found.positions.empty()) {
      const Node& node = index.node(found.positions.front());
      if (is_for_devices(charge)) billed.emplace(node.cluster, node.name);
      continue;
    }
    if (is_unused(charge)) continue;
    if (pools.contains(charge.pool) && is_for_devices(charge)) {
      billed_pools.insert(charge.pool);
      continue;
    }
    const bool has_id = !charge.resource_id.empty();
    const Currency currency = charge.costs.currency();
    const auto [there, is_new] = resources.try_emplace(
        ResourceKey{charge.resource_id, has_id ? charge.resource_name : std::string(),
                    has_id ? std::string() : charge.service_name, is_for_devices(charge), currency},
        UnmatchedResource{.resource_id = charge.resource_id,
                          .resource_name = has_id ? charge.resource_name : std::string(),
                          .service_name = charge.service_name,
                          .is_compute = is_for_devices(charge),
                          .is_ambiguous = false,
                          .costs = Costs::zero(currency),
                          .lines = 0});
    UnmatchedResource& resource = there->second;
    resource.is_ambiguous |= found.is_ambiguous;
    resource.costs += charge.costs;
    resource.lines += 1;
  }

  Unmatched out;
  for (auto& [key, resource] : resources) out.resources.push_back(std::move(resource));
  // Stable: resources of equal cost stay in the order of their key.
  std::ranges::stable_sort(out.resources, [](const auto& a, const auto& b) {
    if (a.is_compute != b.is_compute) return a.is_compute;
    if (a.costs.currency() != b.costs.currency()) return a.costs.currency() < b.costs.currency();
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });

  std::map<NodeKey, const Node*> latest;
  for (const Node& node : input.nodes) {
    if (!is_there(node, input.during)) continue;
    const Node*& last = latest[{node.cluster, node.name}];
    if (last == nullptr || last->from < node.from) last = &node;
  }
  for (const auto& [key, node] : latest) {
    if (billed.contains(key) || billed_pools.contains(node->pool.text())) continue;
    out.nodes.push_back({.cluster = node->cluster,
                         .node = node->name,
                         .provider_id = node->provider_id,
                         .pool = node->pool});
  }
  return out;
}

}  // namespace pennyweight
