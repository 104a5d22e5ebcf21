// GpuMemory: of how much memory the vGPUs of a GPU are parts.
//
// HAMi and Volcano count a GPU's memory as they registered it, which is what its driver reports
// (15,360 MiB on a T4 of 16 GiB) times deviceMemoryScaling. A DRA driver, telemetry and an
// inventory state what the driver reports. Asked of the moment at which work began, so that what is
// registered later changes nothing that was charged; of facts that state it by then, the most
// counts, in whatever order they came.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ledger/node.h"

namespace pennyweight {

class GpuMemory {
 public:
  explicit GpuMemory(std::span<const Gpu> gpus);

  // 0: nobody states it. Where it was first stated after `at`, as it was stated first.
  std::uint64_t of_gpu(const ClusterId& cluster, const GpuId& uuid, Instant at) const;
  // Of each GPU that the node had at that time; 0 where nobody states it, or where they differ.
  std::uint64_t of_node(const ClusterId& cluster, const NodeId& node, Instant at) const;

 private:
  struct Fact {
    Instant from;
    std::optional<Instant> to;
    std::string node;
    std::uint64_t bytes = 0;  // 0: not stated
    bool is_over(Instant at) const { return to && *to <= at; }
  };
  using Facts = std::vector<Fact>;                  // of one GPU, by time
  using Key = std::pair<std::string, std::string>;  // cluster, and UUID or node

  static std::uint64_t memory_at(const Facts& facts, Instant at);

  std::map<Key, Facts> by_gpu_;
  std::map<Key, std::set<std::string>> by_node_;  // the UUIDs that were ever there
};

}  // namespace pennyweight
