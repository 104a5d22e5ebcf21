#include "insight/compare/fleet_view.h"

#include <algorithm>
#include <variant>

#include "allocation/components.h"

namespace pennyweight {
namespace {

// As in the allocation: a fee whose resource is a node, such as data transfer, is not a price of
// its devices, and the unused part of a commitment is not an hour of a node.
bool is_price_of_devices(const Charge& charge) {
  if (charge.charge_category == ChargeCategory::kPurchase ||
      charge.charge_category == ChargeCategory::kTax ||
      charge.commitment_discount_status == UsedOrUnused::kUnused ||
      charge.capacity_reservation_status == UsedOrUnused::kUnused) {
    return false;
  }
  return charge.service_category.empty() || charge.service_category == "Compute" ||
         charge.service_category == "AI and Machine Learning";
}

std::optional<std::uint32_t> found(const std::map<std::string, std::uint32_t, std::less<>>& index,
                                   std::string_view key) {
  const auto entry = index.find(key);
  return entry == index.end() ? std::nullopt : std::optional(entry->second);
}

bool is_there(const Node& node, const Interval& during) {
  return node.from < during.end() && (!node.to || *node.to > during.begin());
}

std::vector<const Node*> pointers_to(std::span<const Node> nodes) {
  std::vector<const Node*> pointers;
  pointers.reserve(nodes.size());
  for (const Node& node : nodes) pointers.push_back(&node);
  return pointers;
}

}  // namespace

FleetView::FleetView(std::span<const Node> nodes, std::span<const Gpu> gpus, const Catalog& catalog,
                     std::span<const JoinRule> join_rules)
    : resources_(pointers_to(nodes), join_rules) {
  std::map<std::string, std::vector<const Node*>> by_name;
  for (const Node& node : nodes) by_name[node.name.text()].push_back(&node);
  for (auto& [name, facts] : by_name) {
    std::sort(facts.begin(), facts.end(),
              [](const Node* a, const Node* b) { return a->from < b->from; });
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    const NodeShape shape = find_node_shape(*facts.front(), catalog);
    by_name_[name] = index;
    nodes_.push_back(
        {std::move(facts),
         {shape.gpu_count, shape.cpu_milli.value_or(0), shape.memory_bytes.value_or(0)},
         find_gpu_model(shape.gpu_model)});
  }
  for (const Gpu& gpu : gpus) {
    const auto node = node_of(gpu.node);
    if (!node) continue;
    by_gpu_.try_emplace(gpu.uuid.text(), *node);
    for (const MigInstance& instance : gpu.mig_instances) {
      by_gpu_.try_emplace(instance.id.text(), *node);
    }
  }
}

std::vector<std::uint32_t> FleetView::nodes_of(const Charge& charge) const {
  if (!is_price_of_devices(charge)) return {};
  const NodeMatch machine = find_node(resources_, charge, [&](std::uint32_t at) {
    return is_there(resources_.node(at), charge.charge_period);
  });
  if (!machine.positions.empty()) {
    return {*node_of(resources_.node(machine.positions.front()).name)};
  }
  if (charge.pool.empty()) return {};
  return pool({.pools = {PoolId(charge.pool)}, .devices = 0}, "");
}

std::optional<std::uint32_t> FleetView::node_of(const NodeId& name) const {
  return found(by_name_, name.text());
}

std::optional<std::uint32_t> FleetView::node_of_gpu(const GpuId& gpu) const {
  return found(by_gpu_, gpu.text());
}

std::map<std::uint32_t, std::uint64_t> FleetView::devices_on_nodes(const Holding& holding) const {
  std::map<std::uint32_t, std::uint64_t> devices;
  if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::NodeDevices& part : on_nodes->parts) {
      if (const auto node = node_of(part.node)) devices[*node] += part.devices;
    }
  } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& gpu : on_gpus->gpus) {
      if (const auto node = node_of_gpu(gpu)) ++devices[*node];
    }
  }
  return devices;
}

std::vector<std::uint32_t> FleetView::pool(const InPool& pools,
                                           const std::string& gpu_model) const {
  const GpuModel* model = gpu_model.empty() ? nullptr : find_gpu_model(gpu_model);
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = any_fact(i);
    const bool named = pools.pools.empty() || std::find(pools.pools.begin(), pools.pools.end(),
                                                        node.pool) != pools.pools.end();
    if (named && (model == nullptr || nodes_[i].model == model)) members.push_back(i);
  }
  return members;
}

}  // namespace pennyweight
