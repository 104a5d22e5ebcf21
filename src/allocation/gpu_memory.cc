#include "allocation/gpu_memory.h"

#include <algorithm>

namespace pennyweight {
namespace {

template <class Map>
std::uint64_t found_in(const Map& map, const ClusterId& cluster, const std::string& name) {
  const auto found = map.find({cluster.text(), name});
  return found == map.end() ? 0 : found->second;
}

}  // namespace

GpuMemory::GpuMemory(std::span<const Gpu> gpus) {
  for (const Gpu& gpu : gpus) {
    if (gpu.memory_bytes.value_or(0) == 0) continue;
    std::uint64_t& most = by_gpu_[{gpu.cluster.text(), gpu.uuid.text()}];
    most = std::max(most, *gpu.memory_bytes);
  }
  for (const Gpu& gpu : gpus) {
    if (gpu.node.empty()) continue;
    const std::uint64_t bytes = of_gpu(gpu.cluster, gpu.uuid);
    const auto [at, is_first] = by_node_.try_emplace({gpu.cluster.text(), gpu.node.text()}, bytes);
    if (!is_first && at->second != bytes) at->second = 0;
  }
}

std::uint64_t GpuMemory::of_gpu(const ClusterId& cluster, const GpuId& uuid) const {
  return found_in(by_gpu_, cluster, uuid.text());
}

std::uint64_t GpuMemory::of_node(const ClusterId& cluster, const NodeId& node) const {
  return found_in(by_node_, cluster, node.text());
}

}  // namespace pennyweight
