// FleetView: finds the nodes of a charge, a GPU or a holding.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/node_index.h"
#include "allocation/pricing/catalog.h"
#include "core/gpu/gpu_model.h"
#include "insight/compare/preset.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

// One node name, with all of its facts in the month.
struct NodeView {
  std::vector<const Node*> facts;  // by from
  Capacity capacity;               // of the first
  const GpuModel* model = nullptr;
};

class FleetView {
 public:
  // REQUIRES: all arguments outlive it.
  FleetView(std::span<const Node> nodes, std::span<const Gpu> gpus, const Catalog& catalog,
            std::span<const JoinRule> join_rules);

  const std::vector<NodeView>& nodes() const { return nodes_; }
  // The nodes of a charge as indices, found as in the allocation: one for a charge for a node, all
  // of its nodes for a charge for a pool, else none.
  std::vector<std::uint32_t> nodes_of(const Charge& charge) const;
  std::optional<std::uint32_t> node_of(const NodeId& name) const;
  std::optional<std::uint32_t> node_of_gpu(const GpuId& gpu) const;  // or MIG instance
  // How many devices a holding has on each node that it names, itself or by its GPUs.
  std::map<std::uint32_t, std::uint64_t> devices_on_nodes(const Holding& holding) const;
  // The nodes of any of these pools (without pools: all nodes) that have the model, if one is
  // named.
  std::vector<std::uint32_t> pool(const InPool& pools, const std::string& gpu_model) const;
  const Node& any_fact(std::uint32_t node) const { return *nodes_[node].facts.front(); }

 private:
  std::vector<NodeView> nodes_;  // by name
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  NodeIndex resources_;  // of the facts, as in the allocation
  std::map<std::string, std::uint32_t, std::less<>> by_gpu_;
};

}  // namespace pennyweight
