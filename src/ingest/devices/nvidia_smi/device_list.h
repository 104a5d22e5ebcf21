// Reads nvidia-smi -L: which index is which GPU, and which MIG devices it has.
//
//   GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)
//     MIG 3g.40gb     Device  0: (UUID: MIG-…)
#pragma once

#include <optional>
#include <string_view>

#include "ingest/devices/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

// Nothing for a line that is not of this form.
std::optional<ListedGpu> parse_listed_gpu(std::string_view line);
std::optional<ListedGpu::MigDevice> parse_listed_mig_device(std::string_view line);

}  // namespace pennyweight::nvidia_smi
