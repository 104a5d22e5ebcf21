// Who pays: charges and holdings in, postings out. Pure: no store, no clock, no log.
//
// For each charge of a scope: what it is for (a node, a pool, or nothing on the fleet), its split
// into GPU, CPU and memory, who held how much of that over the charge's period, and the rest as
// unallocated. docs/ARCHITECTURE.md tells the method; explain.h shows its steps for one charge.
//
// ENSURES: the postings of every charge add up to it with == in all four costs; their order and
// content depend on the values given, not on their order nor on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/seen.h"
#include "core/error.h"
#include "fleet/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "policy/policy.h"
#include "pricing/catalog.h"

namespace pennyweight {

// To which cluster each charge belongs, in the order of the charges: its x_ClusterId; else the
// cluster of the node that it means (allocate/node_index.h); else none (an empty id), as where
// nodes of two clusters fit.
// REQUIRES: the rules have passed check_join_rule.
std::vector<ClusterId> cluster_of_charges(std::span<const Charge> charges,
                                          std::span<const Node> nodes,
                                          std::span<const JoinRule> rules = {});

// Takes the postings of one charge, all of them. Charges come by their last local day, then by id.
// An error ends the run.
using PostingSink = std::function<Result<void>(std::vector<Posting> postings)>;

struct AllocationInput {
  ClusterId cluster;  // whose charges these are; empty: charges of no cluster
  std::span<const Charge> charges;
  std::span<const Node> nodes;  // of the cluster
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  std::span<const Outage> outages = {};
  const Policy& policy;
  const Catalog& catalog;
  unsigned threads = 1;
  SeenSource seen = {};  // nothing: no telemetry, and everything counts by request
  // Only charges whose period overlaps this; nothing: all. What comes out for them is what a run
  // over all charges would say.
  std::optional<Interval> changed = {};
  // Where a bill says which node a line is for in words of its own. REQUIRES: they have passed
  // check_join_rule.
  std::span<const JoinRule> join_rules = {};
  // Where postings go as days are done, so that no month of them is in memory; nothing: they are
  // all in Allocation::postings.
  PostingSink postings = {};
};

// Something that the reader of the numbers should know: a profile that no table has, a holding of
// a node that no inventory has, … with how often, and one example.
struct AllocationNote {
  std::string what;
  std::uint64_t count = 0;
  auto operator<=>(const AllocationNote&) const = default;
};

struct Allocation {
  std::vector<Posting> postings;  // by charge, component, day, node, gpu, kind, workload, holding
  std::vector<WorkloadDimensions> dimensions;  // of every workload that has a posting, by workload
  std::vector<AllocationNote> notes;
};

Result<Allocation> allocate(const AllocationInput& input);

}  // namespace pennyweight
