// collect_windows(): the charges for nodes and pools as a preset sees them, with who requested what
// of each node and when.
//
// A compared node is one node, or all nodes of a pool that no holding names. Holdings that request
// a number of devices in a pool are spread over its nodes, so they pay the pool's mean price. Time
// is cut as finely as the product bills: by charge, by hour or by day (UTC).
#pragma once

#include <span>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/gpu/cloud_resource.h"
#include "core/id.h"
#include "insight/compare/holding_type.h"
#include "insight/compare/node_window.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

// One cluster's month to compare methods on, as allocate() takes it.
struct ClusterMonth {
  ClusterId cluster;
  std::span<const Charge> charges;
  std::span<const Node> nodes;
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  const Catalog& catalog;
  std::span<const JoinRule> join_rules = {};  // as in the allocation
};

struct NodeWindows {
  NodeId node;  // empty: the nodes of a pool
  std::vector<NodeWindow> windows;
};

struct ComparedNodes {
  std::vector<NodeWindows> all;  // in one currency
  std::vector<bool> covered;     // by charge: whether it is for a node or pool. No preset divides
                                 // the others
};

// Reads charges in `currency` only. `cost` is one of their four costs.
ComparedNodes collect_windows(Preset preset, const ClusterMonth& month, Currency currency,
                              Money Costs::* cost);

// How each holding holds its GPUs, by index.
std::vector<HoldingType> holding_types(const ClusterMonth& month);

}  // namespace pennyweight
