// NodeSharing: how a Kubernetes node shares its GPUs, read from its capacity and its labels.
//
// A node of 8 GPUs with 10 replicas of each shows `nvidia.com/gpu: 80`, one split into 56 MIG
// instances shows `nvidia.com/gpu: 56`, and HAMi shows ten times what there is; only labels tell
// these apart. We read the labels of NVIDIA's GPU feature discovery (k8s-device-plugin,
// docs/gpu-feature-discovery and internal/lm: gpu.product, gpu.count, gpu.replicas,
// gpu.sharing-strategy, mig.strategy), those of GKE (cloud.google.com/gke-gpu-sharing-strategy,
// gke-max-shared-clients-per-gpu, gke-gpu-partition-size, gke-accelerator, gke-accelerator-count),
// and the model in that of AMD's labeller, amd.com/gpu.product-name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/label.h"

namespace pennyweight {

// Resource names and quantities as Kubernetes writes them: {"nvidia.com/gpu", "8"}.
using KubernetesResources = std::map<std::string, std::string, std::less<>>;

struct NodeSharing {
  std::string gpu_model;  // as the labels name it, without "-MIG-…" and "-SHARED"; may be empty
  // Nothing: neither capacity nor labels say; the instance type or an inventory must.
  std::optional<std::uint64_t> physical_gpus;
  // Of each GPU, or of each MIG slice where `mig_profile` says that GPUs are slices. 0: none.
  std::uint32_t replicas = 0;
  bool replicas_renamed = false;  // they are requested as nvidia.com/gpu.shared
  bool is_mps = false;            // else replicas share by time
  // Strategy "single": every nvidia.com/gpu is an instance of this profile. Empty: a GPU is a GPU.
  std::string mig_profile;
  // Strategy "mixed": replicas of the instances of a profile, for those that have any.
  std::map<std::string, std::uint32_t, std::less<>> mig_replicas;
  bool is_virtual = false;  // HAMi's or Volcano's: a nvidia.com/gpu is a vGPU, of which a card has
                            // as many as are asked for
  bool operator==(const NodeSharing&) const = default;
};

// `labels` may hold the node's annotations as well: HAMi's hami.io/node-nvidia-register is one.
//
// Under the strategy "single" each GPU is assumed to hold as many instances as fit, since no label
// counts the GPUs; where that does not come out even, physical_gpus is nothing. Intel's
// shared-dev-num and AMD's partition modes can't be recognised: no label of the node states them
// beside a count.
//
// An error names the resource or label when a number is malformed, when capacity and labels
// contradict each other, when nothing says by how many a GPU is shared, when GPU feature discovery
// calls the MIG layout INVALID, or when the node has GPUs of two vendors.
Result<NodeSharing> node_sharing(const KubernetesResources& capacity, const Labels& labels);

}  // namespace pennyweight
