// allocate(): divides the charges of a cluster among those who held its resources. A pure function:
// it uses no store, clock or log.
//
// For each charge it finds what the charge is for (a node, a pool, or no part of the fleet) and
// splits the cost into GPU, CPU and memory. The holders pay for what they held over the charge
// period; the rest is idle, by its reason. docs/methods describes the rules; explain.h shows the
// steps for one charge.
//
// ENSURES: the postings of every charge add up to it with == in all four costs. Their order and
// content depend on the values of the input, not on its order or on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "allocation/utilization.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/posting.h"
#include "ledger/run.h"

namespace pennyweight {

// The cluster of each charge, in the order of the charges: its x_ClusterId, else the cluster of the
// node that its resource matches (allocation/node_index.h), else an empty id, also where nodes of
// two clusters match. REQUIRES: the rules have passed check_join_rule.
std::vector<ClusterId> assign_clusters(std::span<const Charge> charges, std::span<const Node> nodes,
                                       std::span<const JoinRule> rules = {});

// Takes all postings of one charge. Charges arrive by their last local day, then by id. An error
// ends the run.
using PostingSink = std::function<Result<void>(std::vector<Posting> postings)>;

struct AllocationInput {
  ClusterId cluster;  // whose charges are allocated; empty: charges of no cluster
  std::span<const Charge> charges;
  std::span<const Node> nodes;  // of the cluster
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  std::span<const Outage> outages = {};
  const Policy& policy;
  const Catalog& catalog;
  unsigned threads = 1;
  UtilizationSource utilization = {};  // empty: no telemetry, everything counts by request
  // Limits the run to charges whose period overlaps this interval; absent: all charges. Their
  // postings are the same as in a run over all charges.
  std::optional<Interval> changed = {};
  // How to read the node from bills that name it in their own format. REQUIRES: the rules have
  // passed check_join_rule.
  std::span<const JoinRule> join_rules = {};
  // Receives postings day by day, so that a month of them is never in memory. Empty: they are all
  // in Allocation::postings.
  PostingSink postings = {};
};

// A problem that readers of the figures should know, how often it occurred, and one example: a
// profile that no table has, a holding on a node that no inventory has.
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
