// GpuMemory: of how much memory the vGPUs of a GPU are parts.
//
// HAMi and Volcano count a GPU's memory as they registered it, which is what its driver reports
// (15,360 MiB on a T4 of 16 GiB) times deviceMemoryScaling. A DRA driver, telemetry and an
// inventory state what the driver reports. Where several facts state it, the most counts, in
// whatever order they came.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ledger/node.h"

namespace pennyweight {

class GpuMemory {
 public:
  explicit GpuMemory(std::span<const Gpu> gpus);

  // 0: nobody states it.
  std::uint64_t of_gpu(const ClusterId& cluster, const GpuId& uuid) const;
  // Of each GPU of the node; 0 where nobody states it, or where they differ.
  std::uint64_t of_node(const ClusterId& cluster, const NodeId& node) const;

 private:
  using Key = std::pair<std::string, std::string>;  // cluster, and UUID or node
  std::map<Key, std::uint64_t> by_gpu_, by_node_;
};

}  // namespace pennyweight
