// Fleet: the index of a cluster's machines and cards.
#include <algorithm>

#include "allocate/occupancy.h"
#include "fleet/gpu_model.h"

namespace pennyweight {
namespace {

// "Still there" needs an end to be an interval; no bill reaches that far.
const Instant kFarFuture = from_unix_seconds(253'402'300'799);  // 9999-12-31

// A fact about a thing holds until the thing's next fact, or its own end if that is earlier.
std::optional<Interval> presence(Instant from, const std::optional<Instant>& to,
                                 std::optional<Instant> next_from) {
  Instant end = to.value_or(kFarFuture);
  if (next_from && *next_from < end) end = *next_from;
  return Interval::of(from, end);
}

}  // namespace

Fleet::Fleet(std::span<const Node> nodes, std::span<const Gpu> gpus, const Catalog& catalog) {
  std::vector<const Node*> by_name;
  for (const Node& node : nodes) by_name.push_back(&node);
  std::sort(by_name.begin(), by_name.end(), [](const Node* a, const Node* b) {
    return std::tie(a->name, a->from) < std::tie(b->name, b->from);
  });
  std::map<std::pair<PoolId, std::string>, std::uint32_t> leaf_of;
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    const Node& node = *by_name[i];
    const bool has_next = i + 1 < by_name.size() && by_name[i + 1]->name == node.name;
    Machine machine{.node = &node, .shape = shape_of(node, catalog), .present = {}};
    machine.present =
        presence(node.from, node.to, has_next ? std::optional(by_name[i + 1]->from) : std::nullopt);
    const GpuModel* model = find_gpu_model(machine.shape.gpu_model);
    if (model != nullptr) machine.gpu_memory_bytes = model->memory_bytes;
    const auto [leaf, is_new] =
        leaf_of.try_emplace({node.pool, model != nullptr ? model->name : machine.shape.gpu_model},
                            static_cast<std::uint32_t>(leaf_of.size()));
    if (is_new) {
      leaves_.push_back({.pool = leaf->first.first, .gpu_model = leaf->first.second, .nodes = {}});
    }
    machine.leaf = leaf->second;
    const auto index = static_cast<std::uint32_t>(machines_.size());
    leaves_[machine.leaf].nodes.push_back(index);
    machines_by_name_[node.name].push_back(index);
    machines_.push_back(std::move(machine));
  }

  std::vector<const Gpu*> by_uuid;
  for (const Gpu& gpu : gpus) by_uuid.push_back(&gpu);
  std::sort(by_uuid.begin(), by_uuid.end(), [](const Gpu* a, const Gpu* b) {
    return std::tie(a->uuid, a->from) < std::tie(b->uuid, b->from);
  });
  for (std::size_t i = 0; i < by_uuid.size(); ++i) {
    const Gpu& gpu = *by_uuid[i];
    const bool has_next = i + 1 < by_uuid.size() && by_uuid[i + 1]->uuid == gpu.uuid;
    const auto index = static_cast<std::uint32_t>(cards_.size());
    cards_.push_back(
        {.gpu = &gpu,
         .present = presence(gpu.from, gpu.to,
                             has_next ? std::optional(by_uuid[i + 1]->from) : std::nullopt)});
    cards_by_id_[gpu.uuid].push_back(index);
    for (const MigInstance& instance : gpu.mig_instances) {
      cards_by_id_[instance.id].push_back(index);
    }
  }
}

std::span<const std::uint32_t> Fleet::machines_named(const NodeId& name) const {
  const auto found = machines_by_name_.find(name);
  if (found == machines_by_name_.end()) return {};
  return found->second;
}

std::span<const std::uint32_t> Fleet::cards_named(const GpuId& id) const {
  const auto found = cards_by_id_.find(id);
  if (found == cards_by_id_.end()) return {};
  return found->second;
}

}  // namespace pennyweight
