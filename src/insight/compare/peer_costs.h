// What a product's formula makes of a cluster's month: the cost of each workload, and idle cost.
#pragma once

#include <string>
#include <vector>

#include "insight/compare/collect_windows.h"
#include "insight/compare/cost_part.h"

namespace pennyweight {

struct PeerCosts {
  std::vector<CostPart> parts;
  std::vector<bool> covered;  // by charge: whether the preset divides it
};

PeerCosts peer_costs(Preset preset, const ClusterMonth& month, Money Costs::* cost);

}  // namespace pennyweight
