// How fast a GPU model is, and what it draws: what data/fleet/gpu_catalog.csv says of its
// bandwidth, dense compute and thermal design power.
#pragma once

#include <cstdint>
#include <optional>

#include "core/gpu/gpu_model.h"

namespace pennyweight {

// 0: the table doesn't say, or the GPU has no such type.
struct GpuSpeed {
  std::uint64_t memory_gb_per_second = 0;
  std::uint64_t fp16_dense_gflops = 0;
  std::uint64_t bf16_dense_gflops = 0;
  std::uint64_t tdp_watts = 0;
};

GpuSpeed gpu_speed(const GpuModel& model);

}  // namespace pennyweight
