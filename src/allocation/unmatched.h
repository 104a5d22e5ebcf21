// Finds what a bill and a fleet do not match: charges without a node, and nodes without a charge.
//
// A charge matches when its resource is a node, when it is for a pool that has nodes, or when it is
// an unused commitment. The others are listed by resource, compute first: there a join is missing,
// while storage, network and tax rightly have no node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/gpu/cloud_resource.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

struct UnmatchedResource {
  std::string resource_id;  // empty: charges without a resource, by service
  std::string resource_name;
  std::string service_name;
  bool is_compute = false;    // billed as machines or AI services
  bool is_ambiguous = false;  // matches several nodes
  Costs costs;                // of its charges
  std::uint64_t lines = 0;
};

struct UnmatchedNode {
  ClusterId cluster;
  NodeId node;
  std::string provider_id;  // in its latest fact
  PoolId pool;
};

struct Unmatched {
  // Compute first; then by currency, effective cost (the highest first) and resource.
  std::vector<UnmatchedResource> resources;
  std::vector<UnmatchedNode> nodes;  // by cluster and name
};

struct UnmatchedInput {
  std::span<const Charge> charges;
  std::span<const Node> nodes;  // of all clusters
  Interval during;              // nodes that were absent throughout are not reported
  std::span<const JoinRule> rules = {};
};
Unmatched find_unmatched(const UnmatchedInput& input);

}  // namespace pennyweight
