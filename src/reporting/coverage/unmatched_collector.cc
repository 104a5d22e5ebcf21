#include "reporting/coverage/unmatched_collector.h"

#include <algorithm>
#include <optional>

#include "reporting/coverage/estimate_comparison.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPendingMax = 65'536;

}  // namespace

UnmatchedCollector::UnmatchedCollector(std::span<const Node> nodes, const Interval& during,
                                       std::span<const JoinRule> rules)
    : nodes_(nodes), during_(during), rules_(rules) {}

void UnmatchedCollector::add(std::span<const Charge> charges) {
  pending_.insert(pending_.end(), charges.begin(), charges.end());
  if (pending_.size() >= kPendingMax) flush();
}

void UnmatchedCollector::flush() {
  const Unmatched found =
      find_unmatched({.charges = pending_, .nodes = nodes_, .during = during_, .rules = rules_});
  pending_.clear();
  for (const UnmatchedResource& resource : found.resources) {
    const bool has_id = !resource.resource_id.empty();
    const auto [there, is_new] = resources_.try_emplace(
        ResourceKey{!resource.is_compute, resource.costs.currency(), resource.resource_id,
                    has_id ? resource.resource_name : std::string(),
                    has_id ? std::string() : resource.service_name},
        resource);
    if (is_new) continue;
    there->second.is_ambiguous |= resource.is_ambiguous;
    there->second.costs += resource.costs;
    there->second.lines += resource.lines;
  }
  // A node is unmatched if no batch has a charge for it.
  std::map<NodeKey, UnmatchedNode> left;
  for (const UnmatchedNode& node : found.nodes) {
    const NodeKey key{node.cluster, node.node};
    if (is_first_batch_ || without_charge_.contains(key)) left.emplace(key, node);
  }
  without_charge_ = std::move(left);
  is_first_batch_ = false;
}

JoinFindings UnmatchedCollector::finish(const Catalog& catalog, Instant prices_as_of) {
  if (is_first_batch_ || !pending_.empty()) flush();
  JoinFindings findings;
  for (auto& [key, resource] : resources_) findings.resources.push_back(std::move(resource));
  std::ranges::stable_sort(findings.resources, [](const auto& a, const auto& b) {
    if (a.is_compute != b.is_compute) return a.is_compute;
    if (a.costs.currency() != b.costs.currency()) return a.costs.currency() < b.costs.currency();
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });
  std::map<NodeKey, std::optional<Money>> at_list;
  for (const EstimateComparisonRow& row : EstimateComparison({.nodes = nodes_,
                                                              .during = during_,
                                                              .catalog = catalog,
                                                              .prices_as_of = prices_as_of,
                                                              .rules = rules_})
                                              .nodes()) {
    at_list[{ClusterId(row.cluster), NodeId(row.node)}] = row.estimate;
  }
  for (auto& [key, node] : without_charge_) {
    findings.nodes.push_back({.node = std::move(node), .estimate = at_list[key]});
  }
  std::ranges::stable_sort(findings.nodes, [](const UnbilledNode& a, const UnbilledNode& b) {
    if (a.estimate.has_value() != b.estimate.has_value()) return a.estimate.has_value();
    if (!a.estimate) return false;
    if (a.estimate->currency() != b.estimate->currency()) {
      return a.estimate->currency() < b.estimate->currency();
    }
    return a.estimate->ticks() > b.estimate->ticks();
  });
  return findings;
}

}  // namespace pennyweight
