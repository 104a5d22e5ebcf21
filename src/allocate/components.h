// How a charge for a node divides into GPUs, CPU and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/card_share.h"
#include "core/split.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "ledger/posting.h"
#include "policy/policy.h"
#include "pricing/catalog.h"

namespace pennyweight {

// What a node is made of, as its inventory says or, where that is silent, its instance type.
struct NodeShape {
  std::uint32_t gpu_count = 0;
  std::string gpu_model;
  std::string instance_type;
  std::string region;
  std::optional<std::uint64_t> cpu_milli;
  std::optional<std::uint64_t> memory_bytes;
  CardShare card_part = CardShare::whole();  // of a card that each of its GPUs is
  bool operator==(const NodeShape&) const = default;
};

NodeShape shape_of(const Node& node, const Catalog& catalog);

// The ratio by which a charge divides. All zero when the node is not known to have anything.
struct ComponentSplit {
  Weight gpu = 0;
  Weight cpu = 0;
  Weight memory = 0;
  std::string how;  // in words, with the price it rests on, for the explanation
  std::optional<Decimal> price_per_hour;  // of one node; nothing where none was needed
  bool price_missing = false;             // residual was asked for and no hourly price is known
  bool empty() const { return gpu + cpu + memory == 0; }
};

// Of one component; zero for kWhole, which is no part.
Weight weight_in(const ComponentSplit& split, Component component);

// The first rule of policy.node_splits for the node's instance type, else policy.node_split. Under
// `residual` the hourly list price of one node decides: the charge's ListUnitPrice where its
// PricingUnit is hours, else the catalog's. Where neither is known the whole goes to the GPUs, and
// `how` says so. A node without GPUs divides between CPU and memory at market unit rates.
ComponentSplit component_split(const Charge& charge, const NodeShape& shape, const Policy& policy,
                               const Catalog& catalog);

}  // namespace pennyweight
