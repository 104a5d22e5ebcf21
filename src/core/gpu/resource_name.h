// Reads which GPUs a pod requests, from its extended resources and its annotations.
//
//   nvidia.com/gpu              a GPU; a replica, a MIG instance or a vGPU where the node says so
//   nvidia.com/gpu.shared       a replica (k8s-device-plugin with renameByDefault)
//   nvidia.com/mig-1g.5gb       an instance of that profile (strategy "mixed"); ".shared": a
//   replica nvidia.com/gpumem, -percentage, nvidia.com/gpucores     HAMi, of each vGPU: MiB, %, %
//   volcano.sh/vgpu-number, vgpu-memory, vgpu-memory-percentage, vgpu-cores      Volcano, the same
//   gpu-fraction, gpu-memory, gpu-fraction-num-devices, gpu-sm-percentage        annotations of
//                               Run:ai and KAI: a part, or MiB, of each of so many cards
//   amd.com/gpu, gpu.intel.com/i915, gpu.intel.com/xe       a GPU
//
// Any other name with "gpu" in it is refused, since a request that is not understood must not count
// as no request.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/card_share.h"
#include "core/error.h"
#include "core/gpu/node_sharing.h"
#include "core/label.h"

namespace pennyweight {

struct RequestedDevice {
  enum class Kind {
    kGpu,         // a whole card
    kReplica,     // one part of NodeSharing::replicas of a card
    kMigSlice,    // `mig_profile`
    kVirtualGpu,  // cores_percent, and memory_bytes or memory_percent
    kFraction,    // compute and memory, as parts of a card
  };
  Kind kind = Kind::kGpu;
  std::uint64_t count = 0;  // devices, never 0 in an answer
  std::string mig_profile;
  std::optional<std::uint32_t> cores_percent;  // of a card; absent: no limit
  std::optional<std::uint64_t> memory_bytes;   // absent, and no percentage: all of it
  std::optional<std::uint32_t> memory_percent;
  CardShare compute;
  CardShare memory;
  auto operator<=>(const RequestedDevice&) const = default;
};

// The devices that a pod requests, by its containers' requests (for extended resources requests and
// limits are the same) and by its annotations. Equal ones are counted together; the order is that
// of RequestedDevice. Empty: the pod requests none. An error names the resource or annotation, and
// the model where a MIG instance of an unknown one is requested.
//
// A KAI fraction is a share of memory, while time on the GPU is shared; it counts as the same share
// of compute unless gpu-sm-percentage says otherwise. A HAMi request without a number of GPUs is
// for one, HAMi's default. A replica of a MIG instance is an even share of it.
Result<std::vector<RequestedDevice>> requested_devices(
    std::span<const KubernetesResources> containers, const Labels& annotations,
    const NodeSharing& node);

}  // namespace pennyweight
