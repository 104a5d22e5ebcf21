// What a peer's formula makes of a cluster's month: a cost for each workload, and what is idle.
#pragma once

#include <string>
#include <vector>

#include "compare/part.h"
#include "compare/places.h"

namespace pennyweight {

struct PeerCosts {
  std::vector<Part> parts;
  std::vector<bool> covered;  // by charge: whether the preset divides that line at all
};

PeerCosts peer_costs(Preset preset, const ClusterMonth& month, Money Costs::* cost);

}  // namespace pennyweight
