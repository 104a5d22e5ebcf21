#include "insight/queries/spot_use.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "allocation/node_index.h"
#include "core/try.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "reporting/unit_cost_jobs.h"

namespace pennyweight {
namespace {

constexpr std::chrono::hours kSpotWindow{24};
constexpr std::chrono::minutes kWorkEndsWithin{2};

// When a node that is gone ended.
struct SpotNode {
  bool is_there = false;  // at some time of the window
  std::optional<Instant> gone;
};

SpotNode look_at_node(const std::vector<const Node*>& facts, const Interval& window) {
  SpotNode found;
  for (const Node* fact : facts) {
    if (fact->from >= window.end() || (fact->to && *fact->to < window.begin())) continue;
    found.is_there = true;
    const bool goes_on = std::ranges::any_of(facts, [&](const Node* other) {
      return fact->to && other->from > fact->from && other->from <= *fact->to + kWorkEndsWithin;
    });
    if (fact->to && *fact->to < window.end() && !goes_on) found.gone = fact->to;
  }
  return found;
}

}  // namespace

Result<std::set<SpotNodeName>> find_billed_spot_nodes(Store& store, std::span<const Node> nodes,
                                                      std::span<const JoinRule> join_rules,
                                                      const std::string& month) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);
  const NodeIndex index(std::move(all), join_rules);
  std::set<SpotNodeName> names;
  TRY(store.scan_charges(month, [&](std::span<const Charge> batch) {
    for (const Charge& charge : batch) {
      if (charge.pricing_category != PricingCategory::kDynamic) continue;
      const NodeMatch match = find_node(index, charge, [&](std::uint32_t at) {
        const Node& node = index.node(at);
        return node.from < charge.charge_period.end() &&
               (!node.to || charge.charge_period.begin() < *node.to);
      });
      if (match.is_ambiguous) continue;
      for (const std::uint32_t at : match.positions) {
        names.emplace(index.node(at).cluster, index.node(at).name);
      }
    }
    return true;
  }));
  return names;
}

Result<std::vector<SpotUse>> query_spot_use(Store& store, std::span<const Node> nodes,
                                            const std::set<SpotNodeName>& spot_nodes, Instant now) {
  const Interval window(now - kSpotWindow, now);
  std::map<SpotNodeName, std::vector<const Node*>> facts;
  for (const Node& node : nodes) facts[{node.cluster, node.name}].push_back(&node);
  std::map<ClusterId, SpotUse> uses;
  std::map<SpotNodeName, Instant> gone;
  for (const SpotNodeName& name : spot_nodes) {
    const SpotNode found = look_at_node(facts[name], window);
    if (!found.is_there) continue;
    ++uses.try_emplace(name.first, SpotUse{.cluster = name.first, .interrupted = {}})
          .first->second.nodes;
    if (found.gone) gone.emplace(name, *found.gone);
  }
  for (auto& [cluster, use] : uses) {
    std::set<NodeId> interrupted;
    TRY(store.scan_holdings(cluster, window, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) {
        const auto* on_nodes = std::get_if<OnNodes>(&holding.placement);
        // Work that completed was not stopped, even if its node goes right after it.
        if (on_nodes == nullptr || attempt_end(holding) == AttemptEnd::kUseful) continue;
        for (const OnNodes::NodeDevices& part : on_nodes->parts) {
          const auto ended = gone.find({cluster, part.node});
          if (ended == gone.end() || holding.held.begin() >= ended->second) continue;
          const auto apart = holding.held.end() - ended->second;
          if (-kWorkEndsWithin <= apart && apart <= kWorkEndsWithin) interrupted.insert(part.node);
        }
      }
      return true;
    }));
    use.interrupted.assign(interrupted.begin(), interrupted.end());
  }
  std::vector<SpotUse> out;
  for (auto& [cluster, use] : uses) out.push_back(std::move(use));
  return out;
}

}  // namespace pennyweight
