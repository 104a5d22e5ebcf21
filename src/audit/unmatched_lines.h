// What of a month's lines and nodes did not find each other, for a month of any size: lines come in
// batches, and only what stays unmatched is kept.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/audit_tables.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "pricing/catalog.h"

namespace pennyweight {

class UnmatchedLines {
 public:
  // The nodes and rules must outlive it.
  UnmatchedLines(std::span<const Node> nodes, const Interval& during,
                 std::span<const JoinRule> rules);
  void add(std::span<const Charge> charges);
  // Nodes without a line are given their price at list for the time that they were there.
  JoinFindings finish(const Catalog& catalog, Instant prices_as_of);

 private:
  using NodeKey = std::pair<ClusterId, NodeId>;
  // Of resources without an id, those of a service are one (allocate/unmatched.h).
  using ResourceKey = std::tuple<bool, Currency, std::string, std::string, std::string>;

  void flush();

  std::span<const Node> nodes_;
  Interval during_;
  std::span<const JoinRule> rules_;
  std::vector<Charge> waiting_;  // a node index is made for each batch, so batches are large
  std::map<ResourceKey, UnmatchedResource> resources_;
  std::map<NodeKey, UnmatchedNode> without_line_;
  bool is_first_ = true;
};

}  // namespace pennyweight
