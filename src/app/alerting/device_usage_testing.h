// A usage of a GPU without values, for tests.
#pragma once

#include <string>
#include <utility>

#include "ledger/usage.h"

namespace pennyweight {

inline Usage usage_of_gpu(std::string gpu, Instant at, std::string node = "n1") {
  return {.cluster = ClusterId("lab"),
          .node = NodeId(std::move(node)),
          .gpu = GpuId(std::move(gpu)),
          .mig_instance = {},
          .mig_profile = {},
          .model = {},
          .at = at,
          .gpu_util_ppm = {},
          .engine_active_ppm = {},
          .sm_active_ppm = {},
          .memory_used_bytes = {},
          .memory_total_bytes = {},
          .power_milliwatts = {},
          .energy_millijoules = {},
          .workload = WorkloadId(""),
          .id = {},
          .source = {}};
}

}  // namespace pennyweight
