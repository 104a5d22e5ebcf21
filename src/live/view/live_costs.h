// What runs now, and what it costs: the live view of one cluster.
//
// The same division as of a bill, over a window that ends now, at the prices that are known for its
// nodes: a rate card's, else the catalog's on-demand list price. Nothing of it is in the ledger:
// the bill will say what it cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/seen.h"
#include "core/error.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "policy/policy.h"
#include "pricing/catalog.h"
#include "pricing/rate_card.h"

namespace pennyweight {

// What a node of its type costs an hour on demand, by the catalog: in its region, else where it is
// cheapest. An Error where the catalog has no price.
Result<Rate> list_rate(const Node& node, const Catalog& catalog, Instant at);

struct LiveInput {
  ClusterId cluster;
  Interval window;  // that ends now; within one local day
  std::span<const Node> nodes;
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  std::span<const Outage> outages = {};
  const Policy& policy;
  const Catalog& catalog;
  const RateCard& card;
  std::string organisation;  // who the estimates say provides it
  SeenSource seen = {};
  unsigned threads = 1;
};

// What a workload, or nobody (no workload: what nobody held), takes of the window.
struct LiveShare {
  WorkloadId workload;
  Labels labels;      // of its latest holding
  Labels dimensions;  // team, user, project …, by the policy
  std::vector<NodeId> nodes;
  std::vector<GpuId> gpus;       // where they are known
  std::string device;            // "gpu", "mig 1g.10gb", …
  std::optional<Instant> since;  // the begin of its first holding in the window
  bool running = false;          // a holding reaches the window's end
  // In the currency of its nodes' prices; nothing where one of its nodes has no price.
  std::optional<Money> cost;
  std::optional<Money> gpu_cost;   // of it, for GPUs and not for processors and memory beside them
  std::optional<Money> idle_cost;  // of it, held and as far as was seen not used
  GpuTime gpu_time;                // held
  GpuTime observed_time;           // of it, seen
};

struct LiveCosts {
  Interval window;
  std::vector<LiveShare> shares;   // by workload; that of nobody first, where there is one
  std::vector<std::string> notes;  // nodes without a price, and what the allocation noted
  std::uint64_t nodes_unpriced = 0;
  // Of the nodes that are there at the window's end.
  std::optional<Money> price_per_hour;  // of those with a price; nothing: none has one
  std::uint64_t gpus = 0;
  std::map<NodeId, Money> node_prices = {};  // an hour of each of those with a price
};

Result<LiveCosts> live_costs(const LiveInput& input);

// What an hour costs of which `during` cost so much, to the nearest 10^-9: what division at 10^-18
// left over or took is not blown up to an hour.
Money per_hour(const Money& cost, const Interval& during);

}  // namespace pennyweight
