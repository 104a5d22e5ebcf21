// NodeIndex: which nodes a line of a bill can mean, found by what both sides say of a machine.
//
// Looked for in this order: the text as it stands; the machine that it names in its cloud's form;
// the name in that form; a host name with or without its domain; ResourceName, of lines of
// machines; the rules of the configuration. A name never joins two that say they are different
// machines. Several nodes under one key are told apart by time (a node's facts follow one another)
// and otherwise fit nothing: there is no guess.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fleet/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

class NodeIndex {
 public:
  // REQUIRES: the rules have passed check_join_rule. They and what the nodes lie in must outlive
  // the index.
  NodeIndex(std::vector<const Node*> nodes, std::span<const JoinRule> rules);

  const Node& node(std::uint32_t at) const { return *nodes_[at]; }

  // The nodes under each key of the charge that has any, best key first; places in the list given.
  std::vector<std::vector<std::uint32_t>> candidates(const Charge& charge) const;

 private:
  using Places = std::vector<std::uint32_t>;
  using Keys = std::unordered_map<std::string, Places>;

  static void add(Keys& keys, std::string key, std::uint32_t at);
  const Places* under(const Keys& keys, const std::string& key) const;
  void add_host(std::string_view text, std::uint32_t at);

  std::vector<const Node*> nodes_;
  std::span<const JoinRule> rules_;
  std::vector<CloudResource> resources_;  // of each node's provider id
  // Only looked into, never gone through.
  Keys by_text_;        // provider ids, their last part, names
  Keys by_identity_;    // CloudResource::identities
  Keys by_azure_name_;  // names in lower case
  Keys by_short_name_;  // first labels of host names
};

// The node of a charge that `is_there` leaves: that of the first key under which one is left.
struct FoundNode {
  std::vector<std::uint32_t> places;  // of one node, its facts; empty: none
  bool is_ambiguous = false;          // several nodes were left under one key
};
FoundNode find_node(const NodeIndex& index, const Charge& charge,
                    const std::function<bool(std::uint32_t)>& is_there);

}  // namespace pennyweight
