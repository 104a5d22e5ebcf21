// Reads device ids into which plugins and exporters write more than a UUID.
//
//   GPU-5b0d…::3          replica 3 of a card or MIG instance (NVIDIA k8s-device-plugin)
//   nvidia0/vgpu3         client 3 of the card with index 0 (GKE)
//   nvidia0/gi1/vgpu2     client 2 of GPU instance 1 of that card (GKE)
//   gpu-0-mig-1g5gb-19-0  MIG slice of the card with minor 0 (NVIDIA's DRA driver)
//   GPU-5b0d…,NVIDIA,3000,30:;    HAMi's placement of a pod, see parse_hami_devices
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct DeviceId {
  std::string device;                         // "GPU-5b0d…", "MIG-…", or GKE's "nvidia0"
  std::optional<std::uint32_t> gpu_instance;  // where the text has one
  std::optional<std::uint32_t> replica;
  bool operator==(const DeviceId&) const = default;
};

// An error quotes what is malformed.
Result<DeviceId> parse_device_id(std::string_view text);

// A device of NVIDIA's DRA driver (gpu.nvidia.com), as a ResourceClaim's status.allocation names
// it.
struct DraDevice {
  std::uint32_t card = 0;   // its minor number on the node; of gpu-vfio-N an index of its own
  bool is_vfio = false;     // the whole card, handed through to a virtual machine
  std::string mig_profile;  // "1g.5gb"; empty: the whole card
  std::optional<std::uint32_t> placement;  // the memory slice at which a MIG instance begins
  bool operator==(const DraDevice&) const = default;
};

// "gpu-0", "gpu-vfio-0", "gpu-0-mig-1g5gb-19-0": minor, profile, profile id, placement (the
// driver's MigSpecTuple.ToCanonicalName). Names have neither '.' nor '+', so a profile's "-me" may
// mean
// "+me" or "-me"; it is read as "+me", which takes the same slices. An error quotes the name.
Result<DraDevice> parse_dra_device(std::string_view name);

// What HAMi assigned to a container of one GPU.
struct HamiDevice {
  // A MIG instance that HAMi created: which of the GPU's layouts, and which instance of it.
  struct MigSlot {
    std::string layout;  // "0", or a group's name
    std::uint32_t position = 0;
    bool operator==(const MigSlot&) const = default;
  };
  std::string uuid;            // of the card
  std::optional<MigSlot> mig;  // "[0-2]" behind the UUID
  std::string type;            // "NVIDIA"
  std::uint64_t memory_bytes = 0;
  std::optional<std::uint32_t> cores_percent;  // absent: written 0, no limit
  bool operator==(const HamiDevice&) const = default;
};

// The pod annotation hami.io/vgpu-devices-allocated, which says where a pod really is: each device
// as "UUID,type,MiB,cores" followed by ':', each container followed by ';' (HAMi, pkg/device
// EncodePodSingleDevice). Returns the devices by container, in order, an empty list for a container
// without one. An error quotes the malformed device; then no device is returned.
Result<std::vector<std::vector<HamiDevice>>> parse_hami_devices(std::string_view text);

}  // namespace pennyweight
