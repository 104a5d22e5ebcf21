// Queries spot nodes: how many there were in the last day, and how many of them were taken back
// while somebody worked on them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/store.h"

namespace pennyweight {

struct SpotUse {
  ClusterId cluster;
  std::uint64_t nodes = 0;  // there at some time of the last 24 hours
  std::vector<NodeId> interrupted;
};

using SpotNodeName = std::pair<ClusterId, NodeId>;

// The nodes that lines at spot prices of a billing month, "2026-03", name. All its charges are
// read.
Result<std::set<SpotNodeName>> find_billed_spot_nodes(Store& store, std::span<const Node> nodes,
                                                      std::span<const JoinRule> join_rules,
                                                      const std::string& month);

// By cluster; those with spot nodes only. `spot_nodes`: which nodes are of spot, as the bill or
// their labels say. One was taken back if it ended, did not go on under its name, and work on it
// that did not complete ended within two minutes.
Result<std::vector<SpotUse>> query_spot_use(Store& store, std::span<const Node> nodes,
                                            const std::set<SpotNodeName>& spot_nodes, Instant now);

}  // namespace pennyweight
