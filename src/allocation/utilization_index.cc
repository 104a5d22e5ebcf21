#include "allocation/utilization_index.h"

#include <algorithm>

namespace pennyweight {

UtilizationIndex::UtilizationIndex(const ObservedUtilization& seen, const Fleet& fleet)
    : seen_(seen) {
  if (seen.series.empty()) return;
  of_seat_.reserve(fleet.seats().size());
  for (const Fleet::Seat& seat : fleet.seats()) {
    // The values of a MIG GPU as a whole say nothing about the part that is not cut.
    if (seat.is_rest) {
      of_seat_.emplace_back(0, 0);
      continue;
    }
    const auto begin =
        std::partition_point(seen.series.begin(), seen.series.end(),
                             [&](const UtilizationSeries& s) { return s.device < seat.id; });
    auto end = begin;
    while (end != seen.series.end() && end->device == seat.id) ++end;
    of_seat_.emplace_back(begin - seen.series.begin(), end - seen.series.begin());
  }
}

std::span<const UtilizationSeries> UtilizationIndex::series(std::uint32_t seat) const {
  if (of_seat_.empty()) return {};
  const auto [begin, end] = of_seat_[seat];
  return std::span(seen_.series).subspan(begin, end - begin);
}

const UtilizationSeries* UtilizationIndex::device(std::uint32_t seat) const {
  const auto all = series(seat);
  return !all.empty() && all.front().workload.empty() ? &all.front() : nullptr;
}

const UtilizationSeries* UtilizationIndex::workload(std::uint32_t seat,
                                                    const WorkloadId& workload) const {
  for (const UtilizationSeries& each : series(seat)) {
    if (each.workload == workload) return &each;
  }
  return nullptr;
}

std::vector<GpuId> UtilizationIndex::devices_of(const WorkloadId& workload,
                                                const Interval& held) const {
  std::vector<GpuId> devices;
  auto seen = std::partition_point(
      seen_.placed.begin(), seen_.placed.end(),
      [&](const WorkloadSighting& sighting) { return sighting.workload < workload; });
  for (; seen != seen_.placed.end() && seen->workload == workload; ++seen) {
    if (!seen->is_within(held)) continue;
    if (devices.empty() || devices.back() != seen->device) devices.push_back(seen->device);
  }
  return devices;
}

}  // namespace pennyweight
