// Holding: a workload held resources of a cluster over [begin, end).
//
// Holdings come from pods and from Slurm jobs. A holding says what was requested, not what was
// used. It names GPUs, MIG instances, a number of devices on nodes, or a number of devices anywhere
// in a pool of nodes; costs are allocated to each of these forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/card_share.h"
#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// One requested device, in the terms of the request.
struct WholeGpu {
  auto operator<=>(const WholeGpu&) const = default;
};
// A stated share of a GPU: openb's gpu_milli, HAMi, KAI, replicas.
struct CardFraction {
  CardShare compute;
  CardShare memory;
  auto operator<=>(const CardFraction&) const = default;
};
// A MIG instance. What share of a GPU it is depends on the GPU's model.
struct MigSlice {
  std::string profile;  // "3g.20gb"
  auto operator<=>(const MigSlice&) const = default;
};
// One Slurm shard. What share of a GPU it is depends on the node's number of shards and GPUs.
struct Shard {
  auto operator<=>(const Shard&) const = default;
};
// One unit of Slurm's gres/mps. What share of a GPU it is depends on the node's number of them.
struct MpsUnit {
  auto operator<=>(const MpsUnit&) const = default;
};
// One replica of a GPU that the Kubernetes device plugin time-slices or shares by MPS: one of the
// Node::gpu_replicas equal shares of a GPU.
struct Replica {
  auto operator<=>(const Replica&) const = default;
};
// A HAMi or Volcano vGPU as requested: cores in percent of the GPU (absent: no limit) and memory in
// bytes, or in percent, or neither (all of it).
struct VirtualGpu {
  std::optional<std::uint32_t> cores_percent;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> memory_percent;
  auto operator<=>(const VirtualGpu&) const = default;
};
using Device = std::variant<WholeGpu, CardFraction, MigSlice, Shard, MpsUnit, Replica, VirtualGpu>;

// Where the devices are, and how many.
struct OnGpus {  // one device on each of these GPUs, or these MIG instances, by UUID
  std::vector<GpuId> gpus;
  auto operator<=>(const OnGpus&) const = default;
};
struct OnNodes {
  struct NodeDevices {
    NodeId node;
    std::uint32_t devices;  // on this node; 0 for a node held without a GPU
    auto operator<=>(const NodeDevices&) const = default;
  };
  std::vector<NodeDevices> parts;
  auto operator<=>(const OnNodes&) const = default;
};
struct InPool {
  std::vector<PoolId> pools;  // any of these; empty: anywhere in the cluster
  std::uint32_t devices;
  auto operator<=>(const InPool&) const = default;
};
using Placement = std::variant<OnGpus, OnNodes, InPool>;

// Labels that tell more about a holding and are not content: the time at which it was submitted, in
// ISO 8601, and what it returned ("1:0" in Slurm). A reading that has them and one that lacks them
// are one holding.
inline constexpr std::string_view kSubmitTimeLabel = "submit_time";
inline constexpr std::string_view kExitCodeLabel = "exit_code";

struct Holding {
  ClusterId cluster;
  WorkloadId workload;  // "12345", "12345_7", "namespace/pod"
  std::string attempt;  // tells apart the runs of a requeued job; empty where there is one
  Interval held;
  bool ended = true;               // false: it was still running when it was read, at held.end()
  std::uint64_t suspended_ms = 0;  // already cut off the end of `held`, since no source says when
  Device device = WholeGpu{};
  std::string gpu_model;  // as requested, e.g. Slurm's gres type; empty: any
  Placement placement;
  std::optional<std::uint64_t> cpu_milli;     // requested in all, over all nodes
  std::optional<std::uint64_t> memory_bytes;  // of the host, in all
  // A DRA ResourceClaim ("namespace/name"), which its holdings share equally at every moment.
  // Empty: none.
  std::string claim;
  // Run:ai and KAI: the group of fractions that share a GPU. The reservation pod holds the whole
  // GPU for the scheduler; its cost goes to the holdings of its group.
  std::string gpu_group;
  bool is_reservation = false;
  Labels labels;  // account, user, partition, qos, job_name, state, Kubernetes labels …

  // Set by the store when read back; not content.
  FactId id;
  SourceLine source;

  Holding(ClusterId in, WorkloadId by, Interval over, Placement where)
      : cluster(std::move(in)), workload(std::move(by)), held(over), placement(std::move(where)) {}
  bool operator==(const Holding&) const = default;
};

// How many devices it holds, wherever they are.
std::uint64_t device_count(const Holding& holding);

// Cluster, workload and attempt; while it runs also when it was read. So each reading of a running
// job is a fact of its own, and an ended one conflicts only with another ended one.
Hash128 natural_key(const Holding& holding);
Hash128 content_hash(const Holding& holding);
std::string difference(const Holding& there, const Holding& here);

// Texts for stores and for people, which the functions below read back:
//   device     "gpu", "fraction 36036000/72072000" (compute/memory units), "mig 3g.20gb", "shard",
//              "mps", "replica", "vgpu cores=30 memory=4294967296", "vgpu memory_percent=50"
//   placement  "gpus GPU-1,GPU-2", "nodes n1=4,n2=4", "pool 8 a,b", "pool 8" (anywhere)
// Names in a placement are percent-encoded where they hold ',', '=', ' ' or '%'.
std::string to_text(const Device& device);
std::string to_text(const Placement& placement);
std::optional<Device> parse_device(std::string_view text);
std::optional<Placement> parse_placement(std::string_view text);

}  // namespace pennyweight
