// live_costs(): what runs on a cluster now, and what it costs.
//
// It allocates as for a bill, over a window that ends now, at the known prices of the nodes: the
// rate card's, else the catalog's on-demand list price. None of it is in the ledger; the bill will
// state the actual cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "allocation/pricing/rate_card.h"
#include "allocation/utilization.h"
#include "core/error.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight {

// The on-demand price of an hour of the node's instance type by the catalog: in its region, else in
// the cheapest one. An Error where the catalog has no price.
Result<Rate> list_rate(const Node& node, const Catalog& catalog, Instant at);

// The list prices of these nodes' instance types as a rate card. It leaves out nodes without an
// instance type or a price.
RateCard list_price_card(std::span<const Node> nodes, const Catalog& catalog, Instant at);

struct LiveInput {
  ClusterId cluster;
  Interval window;  // ends now; within one local day
  std::span<const Node> nodes;
  std::span<const Gpu> gpus;
  std::span<const Holding> holdings;
  std::span<const Outage> outages = {};
  const Policy& policy;
  const Catalog& catalog;
  const RateCard& card;
  std::string organisation;  // the provider that estimates name
  UtilizationSource utilization = {};
  unsigned threads = 1;
  bool by_place = false;  // also costs by node and GPU
};

// The part of a workload in the window, or (without a workload) of unallocated cost.
struct LiveShare {
  WorkloadId workload;
  Labels labels;      // of its latest holding
  Labels dimensions;  // team, user, project …, by the policy
  std::vector<NodeId> nodes;
  std::vector<GpuId> gpus;            // where known
  std::string device;                 // "gpu", "mig 1g.10gb", …
  std::optional<Instant> since;       // the begin of its first holding in the window
  std::optional<Instant> until = {};  // the end of its last holding, of one that has ended
  // How much of the window it held something; absent: not known.
  std::optional<std::uint64_t> held_ms = {};
  bool running = false;  // whether a holding reaches the window's end
  // In the currency of its nodes' prices; absent where none of its nodes has a price.
  std::optional<Money> cost;
  std::optional<Money> idle_cost;  // of cost, held and observed not to be used
  GpuTime gpu_time;                // held
  GpuTime observed_time;           // of gpu_time
  GpuTime idle_time = {};          // of observed_time, not used
  bool is_partly_priced = false;   // one of its nodes has no price: its costs leave that one out
};

// What a place cost per hour, averaged over the window.
struct PlaceCost {
  Money held;         // by workloads, used or not
  Money held_idle;    // of held, and observed not to be used
  Money unallocated;  // by nobody, and what nobody can use
};
// By node and GPU. The GPU is empty for the rest of the node: unallocated GPUs, processors and
// memory, and GPUs of which nobody says who holds them. So the places of a node add up to its cost.
using PlaceCosts = std::map<std::pair<NodeId, GpuId>, PlaceCost>;

struct LiveCosts {
  Interval window;
  std::vector<LiveShare> shares;   // by workload; the unallocated one first, if any
  std::vector<std::string> notes;  // nodes without a price, and the notes of the allocation
  std::uint64_t nodes_unpriced = 0;
  // Of the nodes that are present at the window's end.
  std::optional<Money> price_per_hour;  // of those with a price; absent: none has one
  std::uint64_t gpus = 0;
  std::map<NodeId, Money> node_prices = {};  // per hour, of those with a price
  PlaceCosts places = {};                    // where `by_place`; of nodes with a price
};

Result<LiveCosts> live_costs(const LiveInput& input);

// The cost per hour where `during` cost `cost`, rounded to 10^-9. Otherwise a rounding at 10^-18
// would show in the price of an hour.
Money per_hour(const Money& cost, const Interval& during);

}  // namespace pennyweight
