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

// The label that a dimension of holdings is, such as "account" of "slurm_account"; empty: none.
std::string label_of_dimension(std::string_view name);

class HoldingDimensions {
 public:
  // By cluster and name, the facts of each by `from`.
  using Nodes = std::map<std::pair<std::string, std::string>, std::vector<const Node*>>;

  // REQUIRES: what is passed outlives this.
  HoldingDimensions(const Policy& policy, const std::vector<Node>& nodes);

  const Nodes& nodes() const { return nodes_; }
  // The node as it was then; before its first fact, as in that. Null: no inventory has it.
  const Node* node_at(const ClusterId& cluster, const NodeId& name, Instant at) const;

  // Whether every node has a value of it, whoever holds it: cluster, pool, node, region, model.
  bool is_of_node(const std::string& name) const;
  // Nothing where there is no value. `resolved` is of resolve_dimensions().
  std::optional<std::string> of(const std::string& dimension, const Holding& holding,
                                const Node* node, const Labels& resolved) const;
  static std::optional<std::string> of_node(const std::string& dimension, const Node* node);

 private:
  const Policy& policy_;
  Nodes nodes_;
};

}  // namespace pennyweight
