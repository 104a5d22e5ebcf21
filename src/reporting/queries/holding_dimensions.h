// What a holding, or the node that it is on, is called in each dimension of reports that are made
// from holdings: the policy's dimensions, the scheduler's own words, and where it ran.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/policy/policy.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

// What stands where a dimension has no value.
inline constexpr const char* kNoValue = "(none)";

// The names that are always known, besides the policy's dimensions and "label:KEY".
std::vector<std::string> holding_dimensions();

// The labels that a dimension of holdings is, such as "account" of "slurm_account"; the first that
// a holding has counts. Empty: it is no label.
std::vector<std::string> labels_of_dimension(std::string_view name);

// How nodes were bought, by cluster and name: a tier of kPriceTiers, or kMixedTiers.
using NodePriceTiers = std::map<std::pair<std::string, std::string>, std::string>;
inline constexpr const char* kMixedTiers = "mixed";

class HoldingDimensions {
 public:
  // By cluster and name, the facts of each by `from`.
  using Nodes = std::map<std::pair<std::string, std::string>, std::vector<const Node*>>;

  // REQUIRES: what is passed outlives this.
  HoldingDimensions(const Policy& policy, const std::vector<Node>& nodes);

  // Without them nodes have no price_tier.
  void set_price_tiers(NodePriceTiers tiers) { price_tiers_ = std::move(tiers); }

  const Nodes& nodes() const { return nodes_; }
  // The node as it was then; before its first fact, as in that. Null: no inventory has it.
  const Node* node_at(const ClusterId& cluster, const NodeId& name, Instant at) const;

  // Whether every node has a value of it, whoever holds it: cluster, pool, node, region, model,
  // price tier.
  bool is_of_node(const std::string& name) const;
  // Nothing where there is no value. `resolved` is of resolve_dimensions().
  std::optional<std::string> of(const std::string& dimension, const Holding& holding,
                                const Node* node, const Labels& resolved) const;
  std::optional<std::string> of_node(const std::string& dimension, const Node* node) const;

 private:
  std::optional<std::string> price_tier(const ClusterId& cluster, const NodeId& node) const;

  const Policy& policy_;
  Nodes nodes_;
  NodePriceTiers price_tiers_;
};

}  // namespace pennyweight
