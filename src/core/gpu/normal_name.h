// Normalises the name of a GPU, which arrives in many spellings.
//
// "NVIDIA A100-SXM4-40GB" (NVML, and "NVIDIA A100-SXM4-40GB MIG 1g.5gb" for an instance),
// "nvidia_a100-sxm4-40gb" (Slurm), "NVIDIA-A100-SXM4-40GB-SHARED" and
// "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb" (Kubernetes' gpu.product) are one model: how a GPU is shared
// does not change which model it is.
#pragma once

#include <string>
#include <string_view>

namespace pennyweight {

// Lower-case letters and digits alone, without the vendor and family in front ("nvidia", "tesla",
// "geforce", "amd", "instinct") and without "-SHARED" or "-MIG-…" behind.
std::string normal_gpu_name(std::string_view reported);

// The same, but keeps vendor and family.
std::string whole_gpu_name(std::string_view reported);

}  // namespace pennyweight
