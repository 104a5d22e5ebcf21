// Makes Node and Gpu facts from a node and from what drivers say about its GPUs, and finds what
// keeps the node out of use.
//
// Labels: node.kubernetes.io/instance-type and topology.kubernetes.io/region (and their beta
// names); the pool as EKS, GKE, AKS, Karpenter, OKE and Run:ai name it; whether it is a spot node,
// as Karpenter, EKS, GKE, AKS and OKE say it; GPUs as in core/gpu/node_sharing.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/schedulers/kubernetes/object.h"
#include "ledger/node.h"

namespace pennyweight::kubernetes {

// The kept part of a node. `fact.from` is its creation, or kInstantMin where that is not stated;
// the state that keeps it decides (cluster_state.h).
struct NodeRecord {
  std::string uid;
  Node fact{.cluster = ClusterId(""),
            .name = NodeId(""),
            .provider_id = {},
            .instance_type = {},
            .region = {},
            .pool = PoolId(""),
            .gpu_model = {},
            .cpu_milli = {},
            .memory_bytes = {},
            .from = {},
            .to = {},
            .id = {},
            .source = {}};
  NodeSharing sharing;
  std::string problem;    // why its GPUs are not understood; empty: they are
  std::vector<Gpu> gpus;  // that HAMi or Volcano registered, by uuid

  bool is_spot = false;  // the cloud may take it back, as its labels say

  // Why its free capacity can't be used; empty: it can.
  std::string out_of_use;
  std::optional<Instant> out_of_use_since;
  std::optional<Instant> ready_changed;
};

NodeRecord make_record(const ClusterId& cluster, const NodeObject& node);

// The GPUs in the slices that one driver offers on one node, by UUID.
std::vector<Gpu> slice_gpus(const ClusterId& cluster, std::span<const ResourceSlice* const> slices);

// The GPUs that an annotation of HAMi or Volcano lists; none where it can't be read.
//   hami.io/node-nvidia-register       [{"id":"GPU-…","index":0,"devmem":32768,"type":"NVIDIA-…"}]
//                                      before 2.5: "GPU-…,10,32768,100,NVIDIA-…,0,true:"
//   volcano.sh/node-vgpu-register      "GPU-…,10,32768,NVIDIA-…,true:"
// With deviceMemoryScaling their memory is more than the GPU has: a vGPU is a part of it.
std::vector<Gpu> registered_gpus(const ClusterId& cluster, const NodeId& node,
                                 std::string_view annotation);

}  // namespace pennyweight::kubernetes
