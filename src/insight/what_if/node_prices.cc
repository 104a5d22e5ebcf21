#include "insight/what_if/node_prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/try.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

// From its first fact to the end of its last one; in the period, or the whole of it where the
// facts say nothing of the period.
Interval presence_of(const Interval& period, const NodeView& node) {
  const Node& last = *node.facts.back();
  const Instant begin = std::max(node.facts.front()->from, period.begin());
  const Instant end = last.to ? std::min(*last.to, period.end()) : period.end();
  return begin < end ? Interval(begin, end) : period;
}

}  // namespace

SelectedNodes select_nodes(const ReplayWorld& world, const FleetView& fleet,
                           const GpuModel* model) {
  SelectedNodes selected;
  for (std::uint32_t i = 0; i < world.machines.size(); ++i) {
    const std::uint32_t node = world.node_of_machine[i];
    if (world.machines[i].gpus == 0) continue;
    if (model != nullptr && fleet.nodes()[node].model != model) continue;
    selected.machines.push_back(i);
    selected.nodes.push_back(node);
  }
  return selected;
}

Result<NodePrices> node_prices(const WhatIfInput& input, const std::vector<std::uint32_t>& wanted,
                               const FleetView& fleet, std::span<const Charge> charges,
                               const StopCheck& is_stopped) {
  std::optional<NodePrices> prices;
  const std::set<std::uint32_t> asked(wanted.begin(), wanted.end());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (i % 4096 == 0) TRY(go_on(is_stopped));
    const auto nodes = fleet.nodes_of(charges[i]);
    if (std::ranges::none_of(nodes, [&](std::uint32_t node) { return asked.contains(node); })) {
      continue;
    }
    if (nodes.size() > 1) {
      const Node& node = fleet.any_fact(nodes.front());
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} is charged together with others as pool {}, so its own "
                              "price is not known; import a bill by node",
                              node.name.text(), node.pool.text()));
    }
    const Money& cost = charges[i].costs.*input.cost;
    if (!prices) prices = NodePrices{.currency = cost.currency(), .ticks = {}};
    if (prices->currency != cost.currency()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("nodes of cluster {} are charged in {} and {}; a search compares "
                              "costs in one currency",
                              input.cluster.facts.cluster.text(), prices->currency.text(),
                              cost.currency().text()));
    }
    prices->ticks[nodes.front()] += cost.ticks();
  }
  if (!prices) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("no charge of cluster {} is for the nodes of this search, so what "
                            "they cost is not known",
                            input.cluster.facts.cluster.text()));
  }
  for (const auto& [node, ticks] : prices->ticks) {
    if (ticks >= 0) continue;
    return fail(ErrorCode::kUnsupported,
                fmt::format("node {} was credited more than it was charged in {}, so it has no "
                            "price",
                            fleet.any_fact(node).name.text(), input.month));
  }
  return *std::move(prices);
}

Result<std::vector<Int128>> prices_in_order(const WhatIfInput& input, const SelectedNodes& selected,
                                            const FleetView& fleet, const NodePrices& prices) {
  std::vector<Int128> ticks;
  for (const std::uint32_t node : selected.nodes) {
    const auto found = prices.ticks.find(node);
    if (found == prices.ticks.end()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("node {} is not charged in {}, so what it costs is not known",
                              fleet.any_fact(node).name.text(), input.month));
    }
    const Interval there = presence_of(input.period, fleet.nodes()[node]);
    ticks.push_back(found->second * input.period.length_ms() / there.length_ms());
  }
  return ticks;
}

}  // namespace pennyweight::what_if
