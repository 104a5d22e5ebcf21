// FleetView: which node a bill line, a card or a holding means.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocate/node_index.h"
#include "compare/preset.h"
#include "fleet/gpu_model.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "pricing/catalog.h"

namespace pennyweight {

// One node by its name, whatever became of it within the month.
struct NodeView {
  std::vector<const Node*> facts;  // by from
  Capacity capacity;               // of the first
  const GpuModel* model = nullptr;
};

class FleetView {
 public:
  // What is viewed must outlive it.
  FleetView(std::span<const Node> nodes, std::span<const Gpu> gpus, const Catalog& catalog,
            std::span<const JoinRule> join_rules);

  const std::vector<NodeView>& nodes() const { return nodes_; }
  // Indices of nodes, found as the allocation finds them. A line for a node names one; a line for a
  // pool its nodes; others none.
  std::vector<std::uint32_t> nodes_of(const Charge& charge) const;
  std::optional<std::uint32_t> node_of(const NodeId& name) const;
  std::optional<std::uint32_t> node_of_gpu(const GpuId& gpu) const;  // or MIG instance
  // The nodes of any of these pools (of none: all) that have the model, where one is named.
  std::vector<std::uint32_t> pool(const InPool& pools, const std::string& gpu_model) const;
  const Node& any_fact(std::uint32_t node) const { return *nodes_[node].facts.front(); }

 private:
  std::vector<NodeView> nodes_;  // by name
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  NodeIndex resources_;  // of the facts, as the allocation has it
  std::map<std::string, std::uint32_t, std::less<>> by_gpu_;
};

}  // namespace pennyweight
