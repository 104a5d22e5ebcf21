// Usage: what one device, or one MIG instance of it, was seen to do, at an instant or over a span.
//
// Values are in the units of the field names; absent where the source had none or a blank sentinel.
// GPU_UTIL and GR_ENGINE_ACTIVE are different things and stay so.
//
//   reading (span_ms == 0)  what the device said at `at`; it holds until its next reading, and no
//                           longer than the policy lets it
//   span (span_ms > 0)      time-weighted means over [at, at + span_ms), all of which was observed.
//                           The collectors of `serve` write these. What comes late of a span that
//                           is in the ledger already is a further `part` of it: parts have
//                           different columns, or speak for different times, so that none counts
//                           twice
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/id.h"
#include "core/instant.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// The longest span: who looks for what was seen from an instant on begins so much before it.
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
  std::optional<std::uint64_t> power_milliwatts;    // of the card, also on a MIG instance's row
  std::optional<std::uint64_t> energy_millijoules;  // a counter since the driver was loaded
  WorkloadId workload;  // "namespace/pod" where the exporter says so; may be empty
  // The values are the workload's own (per process, HAMi), not those of its device.
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
  // Of a span only: what its readings do not say one by one.
  std::optional<std::uint64_t> energy_used_millijoules = {};  // of the card, resets taken care of
  std::optional<std::uint64_t> activity_max_ppm =
      {};  // of the first of engine, SM, GPU_UTIL there is
  std::optional<std::uint64_t> memory_used_max_bytes = {};
  std::optional<std::uint64_t> power_max_milliwatts = {};
  std::optional<std::uint64_t> throttled_ms = {};  // with any reason but idleness or a set clock
  std::optional<std::uint64_t> xid_errors = {};    // seen for the first time in it, or counted
  std::optional<std::uint64_t> last_xid = {};      // the last of them
  std::optional<std::uint64_t> ecc_errors = {};    // uncorrected, counted in it

  FactId id;  // set by the store
  SourceLine source;
  bool operator==(const Usage&) const = default;
};

// What UsageDetail::kShares keeps of it.
Usage shares_of(const Usage& usage);

// Cluster, gpu, mig instance, workload, at; of a span also its length and its part.
Hash128 natural_key(const Usage& usage);
Hash128 content_hash(const Usage& usage);
std::string difference(const Usage& there, const Usage& here);

}  // namespace pennyweight
