// What a pod asks for, in whichever words: extended resources and annotations to devices.
//
//   nvidia.com/gpu              a GPU; a replica, a MIG slice or a vGPU where the node says so
//   nvidia.com/gpu.shared       a replica (k8s-device-plugin with renameByDefault)
//   nvidia.com/mig-1g.5gb       a slice of that profile (strategy "mixed"); ".shared": a replica
//   nvidia.com/gpumem, -percentage, nvidia.com/gpucores     HAMi, of each vGPU: MiB, %, %
//   volcano.sh/vgpu-number, vgpu-memory, vgpu-memory-percentage, vgpu-cores      Volcano, the same
//   gpu-fraction, gpu-memory, gpu-fraction-num-devices, gpu-sm-percentage        annotations of
//                               Run:ai and KAI: a part, or MiB, of each of so many cards
//   amd.com/gpu, gpu.intel.com/i915, gpu.intel.com/xe       a GPU
//
// A name with "gpu" in it that is none of these is refused, since a request that is not understood
// must not count as no request.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/card_share.h"
#include "core/error.h"
#include "core/label.h"
#include "fleet/node_sharing.h"

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

// The devices of a pod: of its containers' requests (for extended resources requests and limits are
// the same), and of its annotations. Equal ones are counted together; their order is that of
// RequestedDevice. Empty: it asks for none. An error names the resource or annotation, and the
// model where a slice of an unknown one is meant.
//
// A KAI fraction is a part of memory, and time on the card is shared; it counts as the same part of
// compute unless gpu-sm-percentage says otherwise. A HAMi request without a number of GPUs is for
// one, HAMi's default. A part of a MIG slice that is shared by replicas is an even part of it.
Result<std::vector<RequestedDevice>> requested_devices(
    std::span<const KubernetesResources> containers, const Labels& annotations,
    const NodeSharing& node);

}  // namespace pennyweight
