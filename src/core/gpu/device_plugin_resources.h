// The extended resources of Kubernetes device plugins that stand for GPUs.
#pragma once

#include <cstdint>
#include <string_view>

namespace pennyweight {

inline constexpr std::string_view kNvidiaGpu = "nvidia.com/gpu";
// A replica of a GPU (k8s-device-plugin with renameByDefault).
inline constexpr std::string_view kNvidiaSharedGpu = "nvidia.com/gpu.shared";
// "nvidia.com/mig-1g.5gb": an instance of that profile; with ".shared" behind it, a replica of one.
inline constexpr std::string_view kNvidiaMigPrefix = "nvidia.com/mig-";
inline constexpr std::string_view kSharedSuffix = ".shared";
// GPUs of other vendors, which are counted and not cut.
inline constexpr std::string_view kOtherVendorGpus[] = {"amd.com/gpu", "gpu.intel.com/i915",
                                                        "gpu.intel.com/xe"};

// A GPU has less than a pebibyte of memory.
inline constexpr std::uint64_t kGpuMemoryMibMax = std::uint64_t{1} << 30;

}  // namespace pennyweight
