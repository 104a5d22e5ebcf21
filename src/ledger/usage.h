// Usage: what one device, or one MIG instance of it, was seen to do at an instant.
//
// Values are as the device reports them, in the units of the field names; absent where the source
// had none or a blank sentinel. GPU_UTIL and GR_ENGINE_ACTIVE are different things and stay so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

struct Usage {
  ClusterId cluster;
  NodeId node;
  GpuId gpu;                 // UUID of the card
  std::string mig_instance;  // GPU instance id ("7"); empty for the whole card
  std::string mig_profile;
  std::string model;
  Instant at;
  std::optional<std::uint64_t> gpu_util_ppm;       // share of time a kernel was resident, 10^-6
  std::optional<std::uint64_t> engine_active_ppm;  // GR_ENGINE_ACTIVE, 10^-6
  std::optional<std::uint64_t> sm_active_ppm;
  std::optional<std::uint64_t> memory_used_bytes;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> power_milliwatts;    // of the card, also on a MIG instance's row
  std::optional<std::uint64_t> energy_millijoules;  // a counter since the driver was loaded
  WorkloadId workload;  // "namespace/pod" where the exporter says so; may be empty
  // The values are the workload's own (per process, HAMi), not those of its device.
  bool of_workload = false;

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Usage&) const = default;
};

Hash128 natural_key(const Usage& usage);  // cluster, gpu, mig instance, workload, at
Hash128 content_hash(const Usage& usage);
std::string difference(const Usage& there, const Usage& here);

}  // namespace pennyweight
