// SpreadAreas: numbers the node, pool or cluster within which a posting's cost is spread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocation/policy/policy.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "ledger/posting.h"

namespace pennyweight {

using AreaNumber = std::uint32_t;
inline constexpr AreaNumber kWholeCluster = 0;

// Looks up charges by id.
class ChargeIndex {
 public:
  explicit ChargeIndex(std::span<const Charge> charges);
  const Charge* find(const FactId& id) const;  // null where there is none

 private:
  std::vector<const Charge*> by_id_;
};

// The areas of one kind: nodes, pools or the one cluster. REQUIRES: the nodes, charges and postings
// outlive it.
class AreaIndex {
 public:
  AreaIndex(SpreadWithin within, std::span<const Node> nodes, const ChargeIndex& charges);

  // The area of a posting. It is kWholeCluster where the posting has no node or pool. A node has
  // the pool that its inventory states at the begin of the posting, else its last one; a node
  // without inventory is in the nameless pool. A posting without a node is in the pool that its
  // charge names.
  AreaNumber area_of(const Posting& posting);
  const std::string& name(AreaNumber area) const { return names_[area]; }

 private:
  AreaNumber number(std::string_view name);
  std::string_view pool_of_node(const Posting& posting) const;

  SpreadWithin within_;
  const ChargeIndex& charges_;
  std::unordered_map<std::string_view, std::vector<std::pair<Instant, std::string_view>>> pools_;
  std::unordered_map<std::string_view, AreaNumber> numbers_;
  std::vector<std::string> names_ = {""};  // by number; kWholeCluster first
};

class SpreadAreas {
 public:
  SpreadAreas(std::span<const Node> nodes, const ChargeIndex& charges)
      : areas_{AreaIndex(SpreadWithin::kNode, nodes, charges),
               AreaIndex(SpreadWithin::kPool, nodes, charges),
               AreaIndex(SpreadWithin::kCluster, nodes, charges)} {}
  AreaIndex& operator[](SpreadWithin within) { return areas_[static_cast<std::size_t>(within)]; }
  const AreaIndex& operator[](SpreadWithin within) const {
    return areas_[static_cast<std::size_t>(within)];
  }

 private:
  std::array<AreaIndex, 3> areas_;
};

}  // namespace pennyweight
