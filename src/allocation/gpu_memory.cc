#include "allocation/gpu_memory.h"

#include <algorithm>
#include <iterator>

namespace pennyweight {

GpuMemory::GpuMemory(std::span<const Gpu> gpus) {
  for (const Gpu& gpu : gpus) {
    const std::string& cluster = gpu.cluster.text();
    by_gpu_[{cluster, gpu.uuid.text()}].push_back({.from = gpu.from,
                                                   .to = gpu.to,
                                                   .node = gpu.node.text(),
                                                   .bytes = gpu.memory_bytes.value_or(0)});
    if (!gpu.node.empty()) by_node_[{cluster, gpu.node.text()}].insert(gpu.uuid.text());
  }
  for (auto& [key, facts] : by_gpu_) std::ranges::stable_sort(facts, {}, &Fact::from);
}

std::uint64_t GpuMemory::memory_at(const Facts& facts, Instant at) {
  std::uint64_t most = 0;
  for (const Fact& fact : facts) {
    if (fact.from <= at && !fact.is_over(at)) most = std::max(most, fact.bytes);
  }
  if (most > 0) return most;
  std::optional<Instant> first;  // that states it
  for (const Fact& fact : facts) {
    if (fact.bytes == 0) continue;
    if (!first) first = fact.from;
    if (fact.from == *first) most = std::max(most, fact.bytes);
  }
  return most;
}

std::uint64_t GpuMemory::of_gpu(const ClusterId& cluster, const GpuId& uuid, Instant at) const {
  const auto found = by_gpu_.find({cluster.text(), uuid.text()});
  return found == by_gpu_.end() ? 0 : memory_at(found->second, at);
}

std::uint64_t GpuMemory::of_node(const ClusterId& cluster, const NodeId& node, Instant at) const {
  const auto found = by_node_.find({cluster.text(), node.text()});
  if (found == by_node_.end()) return 0;
  std::set<std::uint64_t> there, later;
  for (const std::string& uuid : found->second) {
    const Facts& facts = by_gpu_.at({cluster.text(), uuid});
    const auto next = std::ranges::upper_bound(facts, at, {}, &Fact::from);
    if (next == facts.begin()) {  // it was seen later first
      if (next->node == node.text()) later.insert(memory_at(facts, at));
      continue;
    }
    const Fact& last = *std::prev(next);  // says where it is
    if (last.node == node.text() && !last.is_over(at)) there.insert(memory_at(facts, at));
  }
  const std::set<std::uint64_t>& memory = there.empty() ? later : there;
  return memory.size() == 1 ? *memory.begin() : 0;
}

}  // namespace pennyweight
