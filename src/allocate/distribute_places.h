// Places: in which node or pool a posting is, as a number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/charge.h"
#include "ledger/node.h"
#include "ledger/posting.h"
#include "policy/policy.h"

namespace pennyweight {

using PlaceNumber = std::uint32_t;
inline constexpr PlaceNumber kWholeCluster = 0;

// Charges by id.
class ChargeIndex {
 public:
  explicit ChargeIndex(std::span<const Charge> charges);
  const Charge* find(const FactId& id) const;  // nullptr: not there

 private:
  std::vector<const Charge*> by_id_;
};

// Nodes, pools or the one cluster, as `within` says. Looks at the nodes and charges that it is
// given; they must outlive it, and so must the postings.
class Places {
 public:
  Places(SpreadWithin within, std::span<const Node> nodes, const ChargeIndex& charges);

  // kWholeCluster for what is of no node, or of no pool. A node has the pool that its inventory
  // states at the begin of the posting, else its last one; a node that no inventory has is in the
  // nameless pool. What names no node is in the pool that its charge names.
  PlaceNumber of(const Posting& posting);
  const std::string& name(PlaceNumber place) const { return names_[place]; }

 private:
  PlaceNumber number(std::string_view name);
  std::string_view pool_of_node(const Posting& posting) const;

  SpreadWithin within_;
  const ChargeIndex& charges_;
  std::unordered_map<std::string_view, std::vector<std::pair<Instant, std::string_view>>> pools_;
  std::unordered_map<std::string_view, PlaceNumber> numbers_;
  std::vector<std::string> names_ = {""};  // by number; kWholeCluster first
};

class AllPlaces {
 public:
  AllPlaces(std::span<const Node> nodes, const ChargeIndex& charges)
      : places_{Places(SpreadWithin::kNode, nodes, charges),
                Places(SpreadWithin::kPool, nodes, charges),
                Places(SpreadWithin::kCluster, nodes, charges)} {}
  Places& operator[](SpreadWithin within) { return places_[static_cast<std::size_t>(within)]; }
  const Places& operator[](SpreadWithin within) const {
    return places_[static_cast<std::size_t>(within)];
  }

 private:
  std::array<Places, 3> places_;
};

}  // namespace pennyweight
