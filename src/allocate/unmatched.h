// What of a bill and a fleet did not find each other: lines with no node, and nodes with no line.
//
// A line is at home when its resource is a node, when it is of a pool that has nodes, or when it is
// a commitment that nothing used. The rest is listed by resource, what looks like machines first:
// there a join is missing, while storage, network and tax rightly have no node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/instant.h"
#include "fleet/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

struct UnmatchedResource {
  std::string resource_id;  // empty: lines without one, by service
  std::string resource_name;
  std::string service_name;
  bool is_compute = false;    // what machines, or AI services, are billed as
  bool is_ambiguous = false;  // it fits several nodes
  Costs costs;                // of its lines
  std::uint64_t lines = 0;
};

struct UnmatchedNode {
  ClusterId cluster;
  NodeId node;
  std::string provider_id;  // as its latest fact says
  PoolId pool;
};

struct Unmatched {
  // Compute first; then by currency, effective cost (the most expensive first) and resource.
  std::vector<UnmatchedResource> resources;
  std::vector<UnmatchedNode> nodes;  // by cluster and name
};

struct UnmatchedInput {
  std::span<const Charge> charges;
  std::span<const Node> nodes;  // of every cluster
  Interval during;              // nodes that were not there meanwhile are no finding
  std::span<const JoinRule> rules = {};
};
Unmatched unmatched(const UnmatchedInput& input);

}  // namespace pennyweight
