// UtilizationIndex: the utilisation of one day, looked up by seat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocation/fleet_index.h"
#include "allocation/utilization.h"

namespace pennyweight {

class UtilizationIndex {
 public:
  // REQUIRES: both outlive this.
  UtilizationIndex(const ObservedUtilization& seen, const Fleet& fleet);

  Instant from() const { return seen_.during.begin(); }
  // The seat's own values; null where there are none.
  const UtilizationSeries* device(std::uint32_t seat) const;
  // A workload's own values on a seat.
  const UtilizationSeries* workload(std::uint32_t seat, const WorkloadId& workload) const;
  // The devices that telemetry reports a workload on while it was held, ascending.
  std::vector<GpuId> devices_of(const WorkloadId& workload, const Interval& held) const;

 private:
  std::span<const UtilizationSeries> series(std::uint32_t seat) const;

  const ObservedUtilization& seen_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_seat_;  // begin, end in seen_.series
};

}  // namespace pennyweight
