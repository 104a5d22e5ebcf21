// What was seen: telemetry of devices over a stretch of time, as intervals, device by device.
//
// Compact on purpose, since there is one for each device and minute: 16 bytes. Values are in units
// of CardShare of the device that was watched (a card, or one MIG instance of it), so a whole
// device busy all the time is CardShare::kUnitsPerCard, whatever part of a card it is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/usage.h"
#include "policy/policy.h"

namespace pennyweight {

// Over [begin_ms, end_ms) behind SeenUsage::during.begin().
struct Seen {
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t begin_ms;
  std::uint32_t end_ms;
  std::uint32_t compute;  // or kUnknown
  std::uint32_t memory;   // or kUnknown
  bool operator==(const Seen&) const = default;
};

// One device's intervals, or one workload's on it: ascending, and none overlaps the next.
struct SeenSeries {
  GpuId device;         // a card's UUID, or a MIG instance as Gpu::mig_instances names it
  WorkloadId workload;  // whose own values these are; empty: the device's
  std::vector<Seen> seen;
};

struct SeenUsage {
  Interval during;                 // REQUIRES: with a sample's hold, shorter than 49 days
  std::vector<SeenSeries> series;  // by device, then workload
  std::uint64_t samples = 0;       // that were read
  std::uint64_t clamped = 0;       // values beyond their scale, taken for its end
  std::uint64_t unreliable = 0;    // compute values not used: MIG profiling of a mixed A100
  std::uint64_t copies = 0;        // samples repeating another of the same device and instant
  // Where telemetry says on which devices a workload was: by workload, then device.
  std::vector<std::pair<WorkloadId, GpuId>> placed;
};

// Hands out what was seen in a local day as a whole, whatever part of it is allocated: whether a
// row is a copy of its device's can only be told from all of them. Called with days in their order,
// by one thread at a time.
using SeenSource = std::function<Result<SeenUsage>(const Interval& during)>;

// From samples to intervals: a sample holds until the device's next one, and no longer than
// rules.hold_ms(); values are clamped to their scale, copies of a device's values for its pods are
// recognised, and compute of a mixed MIG layout on an A100 is left unknown (DCGM issues #138, #248
// and #152). Samples may begin up to hold_ms before `during` and may come in any order.
SeenUsage see(std::span<const Usage> usages, std::span<const Gpu> gpus, const UsageRules& rules,
              const Interval& during);

}  // namespace pennyweight
