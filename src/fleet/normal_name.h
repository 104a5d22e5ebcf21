// One spelling for the many in which a GPU's name arrives.
//
// "NVIDIA A100-SXM4-40GB" (NVML, and "NVIDIA A100-SXM4-40GB MIG 1g.5gb" of an instance),
// "nvidia_a100-sxm4-40gb" (Slurm), "NVIDIA-A100-SXM4-40GB-SHARED" and
// "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb" (Kubernetes' gpu.product) are one card: what tells how it is
// shared or cut does not change which card it is.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Lower-case letters and digits alone, without the vendor and family in front ("nvidia", "tesla",
// "geforce", "amd", "instinct") and without "-SHARED" or "-MIG-…" behind.
std::string normal_gpu_name(std::string_view reported);

// The same with vendor and family left in front.
std::string whole_gpu_name(std::string_view reported);

}  // namespace pennyweight
