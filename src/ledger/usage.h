// Usage: what telemetry measured of one GPU, or of one MIG instance, at an instant or over a span.
//
// Values are in the units of the field names; absent where the source had none or a blank sentinel.
// GPU_UTIL and GR_ENGINE_ACTIVE measure different things and are stored separately.
//
//   reading (span_ms == 0)  values at `at`; they hold until the next reading of the device, but no
//                           longer than the policy allows
//   span (span_ms > 0)      time-weighted means over [at, at + span_ms), all of which was observed.
//                           The collectors of `serve` write these. Samples that come after their
//                           span is in the ledger become a further `part` of it. The parts of a
//                           span have different columns or cover different times, so that nothing
//                           counts twice
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// The longest span. A scan for usage from an instant on begins this much earlier.
inline constexpr std::uint64_t kUsageSpanMaxMs = 80ull * 60 * 1000;

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
  std::optional<std::uint64_t> power_milliwatts;  // of the whole GPU, also on a MIG instance's row
  std::optional<std::uint64_t> energy_millijoules;  // a counter since the driver was loaded
  WorkloadId workload;  // "namespace/pod" where the exporter says so; may be empty
  // Whether the values are the workload's own (per process, HAMi) and not those of its device.
  bool of_workload = false;

  std::uint32_t span_ms = 0;  // 0: a reading; at most kUsageSpanMaxMs
  std::uint64_t part = 0;     // of a span: counts up with every row that a collector wrote
  std::optional<std::uint64_t> tensor_active_ppm = {};
  std::optional<std::uint64_t> dram_active_ppm = {};
  std::optional<std::uint64_t> memory_reserved_bytes = {};
  std::optional<std::uint64_t> temperature_celsius = {};
  std::optional<std::uint64_t> sm_clock_mhz = {};
  std::optional<std::uint64_t> pcie_bytes_per_second = {};    // sent and received
  std::optional<std::uint64_t> nvlink_bytes_per_second = {};  // sent and received
  // Only of spans: values that single readings do not have.
  std::optional<std::uint64_t> energy_used_millijoules =
      {};  // of the whole GPU, corrected for resets
  std::optional<std::uint64_t> activity_max_ppm =
      {};  // of the first that is present: engine, SM, GPU_UTIL
  std::optional<std::uint64_t> memory_used_max_bytes = {};
  std::optional<std::uint64_t> power_max_milliwatts = {};
  std::optional<std::uint64_t> throttled_ms =
      {};  // for any reason other than idleness or a fixed clock
  std::optional<std::uint64_t> xid_errors = {};  // new in the span, or counted by the exporter
  std::optional<std::uint64_t> last_xid = {};    // the last of them
  std::optional<std::uint64_t> ecc_errors = {};  // uncorrected, counted in it

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Usage&) const = default;
};

// One measured number of a usage: its column in every store, its name in messages, and its field.
struct UsageNumber {
  using Field = std::optional<std::uint64_t> Usage::*;
  const char* column;
  std::string_view label;
  Field field;
  bool decides_shares = false;  // cost is divided by it: UsageDetail::kShares keeps it
  // A number that is known wherever this one is: the maximum beside the mean, the last XID beside
  // their count.
  Field companion = nullptr;
  bool is_sum = false;  // over the span, and not a mean, a maximum or a reading
};

// Every number that a usage can carry. This is the only list of them: fingerprints, tables, scans
// and imports follow it. Its order is that of the fingerprint, so a new number goes to the end.
inline constexpr std::array kUsageNumbers = {
    UsageNumber{"gpu_util_ppm", "GPU util ppm", &Usage::gpu_util_ppm, true},
    UsageNumber{"engine_active_ppm", "engine active ppm", &Usage::engine_active_ppm, true},
    UsageNumber{"sm_active_ppm", "SM active ppm", &Usage::sm_active_ppm, true},
    UsageNumber{"memory_used_bytes", "memory used bytes", &Usage::memory_used_bytes, true,
                &Usage::memory_used_max_bytes},
    UsageNumber{"memory_total_bytes", "memory total bytes", &Usage::memory_total_bytes, true},
    UsageNumber{"power_milliwatts", "power mW", &Usage::power_milliwatts, false,
                &Usage::power_max_milliwatts},
    UsageNumber{"energy_millijoules", "energy mJ", &Usage::energy_millijoules},
    UsageNumber{"tensor_active_ppm", "tensor active ppm", &Usage::tensor_active_ppm},
    UsageNumber{"dram_active_ppm", "DRAM active ppm", &Usage::dram_active_ppm},
    UsageNumber{"memory_reserved_bytes", "memory reserved bytes", &Usage::memory_reserved_bytes},
    UsageNumber{"temperature_celsius", "temperature C", &Usage::temperature_celsius},
    UsageNumber{"sm_clock_mhz", "SM clock MHz", &Usage::sm_clock_mhz},
    UsageNumber{"pcie_bytes_per_second", "PCIe bytes per second", &Usage::pcie_bytes_per_second},
    UsageNumber{"nvlink_bytes_per_second", "NVLink bytes per second",
                &Usage::nvlink_bytes_per_second},
    UsageNumber{"energy_used_millijoules", "energy used mJ", &Usage::energy_used_millijoules, false,
                nullptr, true},
    UsageNumber{"activity_max_ppm", "activity max ppm", &Usage::activity_max_ppm},
    UsageNumber{"memory_used_max_bytes", "memory used max bytes", &Usage::memory_used_max_bytes},
    UsageNumber{"power_max_milliwatts", "power max mW", &Usage::power_max_milliwatts},
    UsageNumber{"throttled_ms", "throttled ms", &Usage::throttled_ms, false, nullptr, true},
    UsageNumber{"xid_errors", "XID errors", &Usage::xid_errors, false, &Usage::last_xid, true},
    UsageNumber{"last_xid", "last XID", &Usage::last_xid},
    UsageNumber{"ecc_errors", "ECC errors", &Usage::ecc_errors, false, nullptr, true},
};

// What UsageDetail::kShares keeps of it.
Usage shares_of(const Usage& usage);

// Cluster, gpu, mig instance, workload, at; of a span also its length and its part.
Hash128 natural_key(const Usage& usage);
Hash128 content_hash(const Usage& usage);
std::string difference(const Usage& there, const Usage& here);

}  // namespace pennyweight
