// Node and Gpu: the machines and GPUs of a cluster, each with the time for which the record holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// How the Kubernetes device plugin lets pods share a node's GPUs.
enum class GpuSharing { kNone, kTimeSlicing, kMps };

struct Node {
  ClusterId cluster;
  NodeId name;
  std::string provider_id;      // the resource id in bills; may be empty
  std::string instance_type;    // may be empty
  std::string region;           // may be empty
  PoolId pool;                  // may be empty: the cluster's only, unnamed pool
  std::string gpu_model;        // as reported; empty without GPUs
  std::uint32_t gpu_count = 0;  // physical GPUs; a capacity that counts replicas is divided by them
  std::uint32_t shard_count = 0;  // Slurm shards of the node, over all its GPUs; 0: none
  std::uint32_t mps_count = 0;    // units of Slurm's gres/mps, over all its GPUs; 0: none
  GpuSharing sharing = GpuSharing::kNone;
  std::uint32_t gpu_replicas = 0;             // replicas of each GPU; 0: not shared by replicas
  bool replicas_renamed = false;              // they are requested as nvidia.com/gpu.shared
  std::optional<std::uint64_t> cpu_milli;     // capacity
  std::optional<std::uint64_t> memory_bytes;  // capacity
  Instant from;
  std::optional<Instant> to;  // nothing: still there

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Node&) const = default;
};

struct MigInstance {
  GpuId id;             // MIG UUID, or "<GPU UUID>/gi<N>" where the source has no UUID
  std::string profile;  // "3g.20gb"
  bool operator==(const MigInstance&) const = default;
};

struct Gpu {
  ClusterId cluster;
  NodeId node;
  GpuId uuid;
  std::uint32_t index = 0;  // on its node; not stable over a reboot
  std::string model;        // as reported: "NVIDIA A100-SXM4-40GB"
  std::optional<std::uint64_t> memory_bytes;
  std::vector<MigInstance> mig_instances;  // empty: MIG is off. Another layout is a further fact
  Instant from;
  std::optional<Instant> to;

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Gpu&) const = default;
};

std::string_view to_text(GpuSharing sharing);  // "none", "time-slicing", "mps"
std::optional<GpuSharing> parse_gpu_sharing(std::string_view text);

Hash128 natural_key(const Node& node);  // cluster, name, from
Hash128 content_hash(const Node& node);
std::string difference(const Node& there, const Node& here);
Hash128 natural_key(const Gpu& gpu);  // cluster, uuid, from
Hash128 content_hash(const Gpu& gpu);
std::string difference(const Gpu& there, const Gpu& here);

}  // namespace pennyweight
