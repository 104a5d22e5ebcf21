// From a node, and what drivers say of its cards, to Node and Gpu facts and to what keeps it out of
// use.
//
// Labels: node.kubernetes.io/instance-type, topology.kubernetes.io/region (and their beta names);
// the pool in the words of EKS, GKE, AKS, Karpenter, OKE and Run:ai; GPUs as in
// fleet/node_sharing.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/kubernetes/object.h"
#include "ledger/node.h"

namespace pennyweight::kubernetes {

// A node as far as it is kept. `fact.from` is when it was made, or kInstantMin where that is not
// said; the state that keeps it decides (cluster_state.h).
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
  std::string problem;     // its GPUs are not understood; empty: they are
  std::vector<Gpu> cards;  // that HAMi or Volcano registered, by uuid

  // Why nobody can be given what is free of it; empty: it is in use.
  std::string out_of_use;
  std::optional<Instant> out_of_use_since;
  std::optional<Instant> ready_changed;
};

NodeRecord record_of(const ClusterId& cluster, const NodeObject& node);

// The cards of the slices that one driver offers on one node, by uuid.
std::vector<Gpu> cards_of(const ClusterId& cluster, std::span<const ResourceSlice* const> slices);

// The cards that an annotation of HAMi or Volcano lists; none where it can't be read.
//   hami.io/node-nvidia-register       [{"id":"GPU-…","index":0,"devmem":32768,"type":"NVIDIA-…"}]
//                                      before 2.5: "GPU-…,10,32768,100,NVIDIA-…,0,true:"
//   volcano.sh/node-vgpu-register      "GPU-…,10,32768,NVIDIA-…,true:"
// Their memory is not taken over: with deviceMemoryScaling it is more than the card has.
std::vector<Gpu> registered_cards(const ClusterId& cluster, const NodeId& node,
                                  std::string_view annotation);

}  // namespace pennyweight::kubernetes
