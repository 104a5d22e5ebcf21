// SlotPlaces: the bill's lines for nodes and pools, each with who asked for what there and when, as
// a preset sees them.
//
// A place is a node, or all the nodes of a pool that no holding names: holdings that ask for a
// number of devices somewhere in a pool are spread over its nodes, so they pay the pool's mean
// price. Time is cut as finely as the product bills: by line, by hour, by day (UTC).
#pragma once

#include <span>
#include <vector>

#include "compare/held_as.h"
#include "compare/slot.h"
#include "core/id.h"
#include "fleet/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "pricing/catalog.h"

namespace pennyweight {

// What a comparison is about: one cluster's month, as allocate() takes it.
struct ClusterMonth {
  ClusterId cluster;
  std::span<const Charge> charges;
  std::span<const Node> nodes;
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  const Catalog& catalog;
  std::span<const JoinRule> join_rules = {};  // as the allocation's
};

struct Place {
  NodeId node;  // empty: nodes of a pool
  std::vector<Slot> slots;
};

struct SlotPlaces {
  std::vector<Place> all;     // of one currency
  std::vector<bool> covered;  // by charge: a line for a node or pool. Others no preset divides
};

// Lines of `currency` only. `cost` says which of their four costs.
SlotPlaces places_of(Preset preset, const ClusterMonth& month, Currency currency,
                     Money Costs::* cost);

// How each holding has its GPUs, by its index.
std::vector<HeldAs> ways_of_holding(const ClusterMonth& month);

}  // namespace pennyweight
