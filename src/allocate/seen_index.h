// SeenIndex: a stretch's telemetry, found by seat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocate/fleet_index.h"
#include "allocate/seen.h"

namespace pennyweight {

class SeenIndex {
 public:
  // REQUIRES: `seen` and `fleet` outlive this.
  SeenIndex(const SeenUsage& seen, const Fleet& fleet);

  Instant from() const { return seen_.during.begin(); }
  // The seat's own values; nothing where there are none.
  const SeenSeries* device(std::uint32_t seat) const;
  // A workload's own values on a seat.
  const SeenSeries* workload(std::uint32_t seat, const WorkloadId& workload) const;
  // On which devices telemetry says that a workload was, ascending.
  std::span<const std::pair<WorkloadId, GpuId>> placed(const WorkloadId& workload) const;

 private:
  std::span<const SeenSeries> series(std::uint32_t seat) const;

  const SeenUsage& seen_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_seat_;  // begin, end in seen_.series
};

}  // namespace pennyweight
