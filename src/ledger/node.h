// Node and Gpu: the machines and cards of a fleet, each from–to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

struct Node {
  ClusterId cluster;
  NodeId name;
  std::string provider_id;    // the resource id by which a bill names it; may be empty
  std::string instance_type;  // may be empty
  std::string region;         // may be empty
  PoolId pool;                // may be empty: the cluster's one nameless pool
  std::string gpu_model;      // as reported; empty without GPUs
  std::uint32_t gpu_count = 0;
  std::uint32_t shard_count = 0;           // Slurm shards of the node, over all its GPUs; 0: none
  std::optional<std::uint64_t> cpu_milli;  // capacity
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
  std::vector<MigInstance> mig_instances;  // empty: MIG is off. A new layout is a further fact
  Instant from;
  std::optional<Instant> to;

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Gpu&) const = default;
};

Hash128 natural_key(const Node& node);  // cluster, name, from
Hash128 content_hash(const Node& node);
std::string difference(const Node& there, const Node& here);
Hash128 natural_key(const Gpu& gpu);  // cluster, uuid, from
Hash128 content_hash(const Gpu& gpu);
std::string difference(const Gpu& there, const Gpu& here);

}  // namespace pennyweight
