// Collects the charges and nodes of a month that do not match each other. Charges come in batches,
// and only unmatched ones stay in memory, so the month may have any size.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "allocation/unmatched.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

struct UnbilledNode {
  UnmatchedNode node;
  std::optional<Money> estimate;  // at list, for its time in the month; empty: no price
};

struct JoinFindings {
  std::vector<UnmatchedResource> resources;
  std::vector<UnbilledNode> nodes;
};

class UnmatchedCollector {
 public:
  // The nodes and rules must outlive it.
  UnmatchedCollector(std::span<const Node> nodes, const Interval& during,
                     std::span<const JoinRule> rules);
  void add(std::span<const Charge> charges);
  // Estimates each node without a charge at list price, for the time it was present.
  JoinFindings finish(const Catalog& catalog, Instant prices_as_of);

 private:
  using NodeKey = std::pair<ClusterId, NodeId>;
  // Resources without an id are merged by service (allocation/unmatched.h).
  using ResourceKey = std::tuple<bool, Currency, std::string, std::string, std::string>;

  void flush();

  std::span<const Node> nodes_;
  Interval during_;
  std::span<const JoinRule> rules_;
  std::vector<Charge> pending_;  // each batch builds a node index, so batches are large
  std::map<ResourceKey, UnmatchedResource> resources_;
  std::map<NodeKey, UnmatchedNode> without_charge_;
  bool is_first_batch_ = true;
};

}  // namespace pennyweight
