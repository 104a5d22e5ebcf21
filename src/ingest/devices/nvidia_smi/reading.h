// The readings in nvidia-smi's output, before it is known which GPU an index means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.h"

namespace pennyweight::nvidia_smi {

// nvidia-smi -L: a GPU, and the MIG devices on it.
struct ListedGpu {
  struct MigDevice {
    std::uint32_t number = 0;  // "Device 0", the MIG Dev of the table
    std::string profile;       // "3g.40gb"
    std::string uuid;
  };
  std::uint64_t line = 0;
  std::uint32_t index = 0;
  std::string model;
  std::string uuid;
  std::vector<MigDevice> mig_devices;
};

// One GPU at one instant: a row of --query-gpu, or two lines of the default table.
struct GpuReading {
  std::uint64_t line = 0;
  std::optional<Instant> at;
  std::string uuid;                    // empty in the table
  std::optional<std::uint32_t> index;  // may be missing in --query-gpu
  std::string model;                   // empty where unknown; the table cuts it short
  std::optional<std::uint64_t> memory_used_bytes;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> gpu_util_ppm;
  std::optional<std::uint64_t> power_milliwatts;
  std::string text;  // the row, for a refusal
};

// One row of the table's "MIG devices".
struct MigReading {
  std::uint64_t line = 0;
  std::optional<Instant> at;
  std::uint32_t gpu_index = 0;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
  std::uint32_t mig_device = 0;
  std::uint64_t memory_used_bytes = 0;
  std::uint64_t memory_total_bytes = 0;
  std::uint32_t multiprocessors = 0;
  std::string text;
};

}  // namespace pennyweight::nvidia_smi
