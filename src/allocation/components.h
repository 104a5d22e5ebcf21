// Splits the charge for a node into GPUs, CPU and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "core/card_share.h"
#include "core/split.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "ledger/posting.h"

namespace pennyweight {

// What a node consists of: from its inventory, else from its instance type.
struct NodeShape {
  std::uint32_t gpu_count = 0;
  std::string gpu_model;
  std::string instance_type;
  std::string region;
  std::optional<std::uint64_t> cpu_milli;
  std::optional<std::uint64_t> memory_bytes;
  CardShare card_share = CardShare::whole();  // what part of a whole GPU each one is
  bool operator==(const NodeShape&) const = default;
};

NodeShape find_node_shape(const Node& node, const Catalog& catalog);

// The ratio by which a charge is split. All zero where the node is not known to have anything.
struct ComponentSplit {
  Weight gpu = 0;
  Weight cpu = 0;
  Weight memory = 0;
  std::string description;  // the rule in words with the price it uses, for explanations
  std::optional<Decimal> price_per_hour;  // of one node; absent where the split needs no price
  bool price_missing = false;             // `residual` was chosen and no hourly price is known
  // `residual` was chosen, and the price is in a currency in which the rates of CPU and memory are
  // not known: why, and what to do.
  std::string rate_missing = {};
  bool empty() const { return gpu + cpu + memory == 0; }
};

// Of one component; zero for kWhole.
Weight component_weight(const ComponentSplit& split, Component component);

// Applies the first rule of policy.node_splits that matches the instance type, else
// policy.node_split. `residual` uses the hourly list price of one node: the charge's ListUnitPrice
// where its PricingUnit is hours, else the catalog's. The rates of CPU and memory are converted
// into the currency of the price at the rate of the last day of the charge's month; where none is
// known, the catalog's price in the currency of these rates is taken instead. Without a price the
// GPUs get the whole charge, and the description says so. A node without GPUs is split between CPU
// and memory at market unit rates.
ComponentSplit compute_component_split(const Charge& charge, const NodeShape& shape,
                                       const Policy& policy, const Catalog& catalog);

}  // namespace pennyweight
