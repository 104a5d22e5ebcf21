// NodeIndex: finds the nodes that a charge's resource can name.
//
// It tries in this order: the exact text; the machine that the text names in its cloud's form; the
// name in that form; a host name with or without its domain; ResourceName, for charges of machines;
// the rules of the configuration. A name never joins two sides that state different machines.
// Several nodes under one key are told apart by time, since the facts of a node follow one another.
// If they can't be, nothing matches: there is no guess.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/gpu/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

class NodeIndex {
 public:
  // REQUIRES: the rules have passed check_join_rule; the rules and nodes outlive the index.
  NodeIndex(std::vector<const Node*> nodes, std::span<const JoinRule> rules);

  const Node& node(std::uint32_t at) const { return *nodes_[at]; }

  // The nodes under each key of the charge that has any, best key first, as positions in the given
  // list.
  std::vector<std::vector<std::uint32_t>> candidates(const Charge& charge) const;

 private:
  using Positions = std::vector<std::uint32_t>;
  using Keys = std::unordered_map<std::string, Positions>;

  static void add(Keys& keys, std::string key, std::uint32_t at);
  const Positions* under(const Keys& keys, const std::string& key) const;
  void add_host(std::string_view text, std::uint32_t at);

  std::vector<const Node*> nodes_;
  std::span<const JoinRule> rules_;
  std::vector<CloudResource> resources_;  // from each node's provider id
  // For lookup only, never iterated.
  Keys by_text_;        // provider ids, their last part, names
  Keys by_identity_;    // CloudResource::identities
  Keys by_azure_name_;  // names in lower case
  Keys by_short_name_;  // first labels of host names
};

// The node that a charge matches: that of the first key with a node for which `is_there` holds.
struct NodeMatch {
  std::vector<std::uint32_t> positions;  // the facts of one node; empty: none
  bool is_ambiguous = false;             // one key matched several nodes
};
NodeMatch find_node(const NodeIndex& index, const Charge& charge,
                    const std::function<bool(std::uint32_t)>& is_there);

}  // namespace pennyweight
