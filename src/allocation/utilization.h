// Utilisation: what telemetry says a device or workload used, as intervals of time.
//
// An interval takes 16 bytes, since there is one for each device and minute. Values are in units of
// CardShare of the observed device (a GPU or one MIG instance), so a device that is fully busy has
// CardShare::kUnitsPerCard, whatever part of a GPU it is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/usage.h"

namespace pennyweight {

// Over [begin_ms, end_ms) after ObservedUtilization::during.begin().
struct UtilizationInterval {
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t begin_ms;
  std::uint32_t end_ms;
  std::uint32_t compute;  // or kUnknown
  std::uint32_t memory;   // or kUnknown
  bool operator==(const UtilizationInterval&) const = default;
};

// The intervals of one device, or of one workload on it: ascending, without overlaps.
struct UtilizationSeries {
  GpuId device;         // a GPU's UUID, or a MIG instance as Gpu::mig_instances names it
  WorkloadId workload;  // whose own values these are; empty: the device's
  std::vector<UtilizationInterval> intervals;
};

// A time in which telemetry reports a workload on a device, from its first sample to its last, of a
// span to its end. In between it is never silent for more than UsageRules::hold_ms().
struct WorkloadSighting {
  WorkloadId workload;
  GpuId device;  // as UtilizationSeries::device
  Instant first;
  Instant last;  // at which it was still seen
  // Whether it is of a holding over that time. A workload that runs again, or is resized, may be on
  // other devices then.
  bool is_within(const Interval& held) const { return first < held.end() && held.begin() <= last; }
  auto operator<=>(const WorkloadSighting&) const = default;
};

struct ObservedUtilization {
  Interval during;                        // REQUIRES: with a sample's hold, shorter than 49 days
  std::vector<UtilizationSeries> series;  // by device, then workload
  std::uint64_t samples = 0;              // read
  std::uint64_t clamped = 0;              // values beyond their scale, counted as its end
  std::uint64_t unreliable = 0;           // compute values not used: MIG profiling of a mixed A100
  std::uint64_t copies = 0;  // samples that repeat another of the same device and instant
  std::vector<WorkloadSighting> placed;  // by workload, device, time
};

// Returns the utilisation of a whole local day, even if only a part of it is allocated: it takes
// all rows to tell whether a row is a copy of its device's. Called day by day in ascending order,
// by one thread at a time.
using UtilizationSource = std::function<Result<ObservedUtilization>(const Interval& during)>;

// Turns samples into intervals. A sample holds until the device's next one, for rules.hold_ms() at
// most. Values are clamped to their scale, copies of a device's values for its pods are recognised,
// and compute of a mixed MIG layout on an A100 stays unknown (DCGM issues #138, #248 and #152).
// Samples may begin up to hold_ms before `during` and may come in any order.
ObservedUtilization to_intervals(std::span<const Usage> usages, std::span<const Gpu> gpus,
                                 const UsageRules& rules, const Interval& during);

}  // namespace pennyweight
