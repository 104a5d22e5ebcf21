// What nodes cost, for searches that choose among them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "core/int128.h"
#include "core/money.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/what_if.h"
#include "ledger/charge.h"

namespace pennyweight::what_if {

// The machines with GPUs of a model (null: of any), and their nodes.
struct SelectedNodes {
  std::vector<std::uint32_t> machines;
  std::vector<std::uint32_t> nodes;
};
SelectedNodes select_nodes(const ReplayWorld& world, const FleetView& fleet, const GpuModel* model);

// What each node of the fleet costs for the whole period. Only nodes that are asked for are
// looked at; an Error where what one of them costs is not known.
struct NodePrices {
  Currency currency;
  std::map<std::uint32_t, Int128> ticks;  // by node
};
Result<NodePrices> node_prices(const WhatIfInput& input, const std::vector<std::uint32_t>& wanted,
                               const FleetView& fleet, std::span<const Charge> charges,
                               const StopCheck& is_stopped);

// In the order of the nodes selected, for the whole period, in which a replay has every node: what
// a node cost for a part of it is scaled up.
Result<std::vector<Int128>> prices_in_order(const WhatIfInput& input, const SelectedNodes& selected,
                                            const FleetView& fleet, const NodePrices& prices);

}  // namespace pennyweight::what_if
