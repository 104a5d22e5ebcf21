#include "allocation/spread_areas.h"

#include <algorithm>

namespace pennyweight {

ChargeIndex::ChargeIndex(std::span<const Charge> charges) {
  by_id_.reserve(charges.size());
  for (const Charge& charge : charges) by_id_.push_back(&charge);
  std::sort(by_id_.begin(), by_id_.end(),
            [](const Charge* a, const Charge* b) { return a->id < b->id; });
}

const Charge* ChargeIndex::find(const FactId& id) const {
  const auto found = std::lower_bound(
      by_id_.begin(), by_id_.end(), id,
      [](const Charge* charge, const FactId& wanted) { return charge->id < wanted; });
  return found != by_id_.end() && (*found)->id == id ? *found : nullptr;
}

AreaIndex::AreaIndex(SpreadWithin within, std::span<const Node> nodes, const ChargeIndex& charges)
    : within_(within), charges_(charges) {
  if (within != SpreadWithin::kPool) return;
  for (const Node& node : nodes) {
    pools_[node.name.text()].emplace_back(node.from, node.pool.text());
  }
  for (auto& [node, pools] : pools_) std::sort(pools.begin(), pools.end());
}

AreaNumber AreaIndex::area_of(const Posting& posting) {
  switch (within_) {
    case SpreadWithin::kCluster:
      return kWholeCluster;
    case SpreadWithin::kNode:
      return posting.node.empty() ? kWholeCluster : number(posting.node.text());
    case SpreadWithin::kPool: {
      if (!posting.node.empty()) return number(pool_of_node(posting));
      const Charge* charge = charges_.find(posting.charge);
      return charge == nullptr || charge->pool.empty() ? kWholeCluster : number(charge->pool);
    }
  }
  return kWholeCluster;
}

AreaNumber AreaIndex::number(std::string_view name) {
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<AreaNumber>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return found->second;
}

std::string_view AreaIndex::pool_of_node(const Posting& posting) const {
  const auto found = pools_.find(posting.node.text());
  if (found == pools_.end()) return "";
  const auto& pools = found->second;
  // The last one that began by then, else the first.
  const auto after = std::upper_bound(pools.begin(), pools.end(), posting.interval.begin(),
                                      [](Instant at, const auto& pool) { return at < pool.first; });
  return after == pools.begin() ? after->second : std::prev(after)->second;
}

}  // namespace pennyweight
