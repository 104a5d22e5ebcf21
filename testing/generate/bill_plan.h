// BillPlan: which nodes a generated bill is for, how each is paid for, and what is committed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "testing/generate/bill_prices.h"
#include "testing/generate/generate_bill.h"

namespace pennyweight {

struct PlannedNode {
  const Node* node;
  Interval present;  // within the bill's period
  NodeTerm term = NodeTerm::kOnDemand;
  std::string resource_id;  // the node's provider id, else its name
  std::uint64_t key;        // a hash of seed and node
  std::size_t commitment;   // index into BillPlan::commitments, for reserved nodes
};

// One commitment covers the reserved nodes of one (cluster, instance type, region).
struct Commitment {
  std::string cluster;
  std::string instance_type;
  std::string region;
  std::string id;
  std::uint64_t milli_instances = 0;  // committed throughout the bill
};

struct BilledCluster {
  std::string name;
  std::string region;  // of its first node; empty if neither the node nor the options name one
};

struct BillPlan {
  Interval period;
  std::vector<PlannedNode> nodes;  // by cluster, name, from
  std::vector<Commitment> commitments;
  std::vector<BilledCluster> clusters;  // by name
  std::string account_id;               // twelve digits
};

// Returns an error that names the invalid option, or the node that cannot be billed.
Result<BillPlan> plan_bill(std::span<const Node> nodes, const BillOptions& options);

// "123456789012", derived from the seed and a name.
std::string account_number(std::uint64_t seed, std::string_view of);

}  // namespace pennyweight
