#include "allocation/seat_intervals.h"

#include <algorithm>
#include <set>

#include "core/split.h"

namespace pennyweight {
namespace {

// The interval that contains an instant; null in a gap.
const UtilizationInterval* interval_at(const UtilizationSeries* series, std::int64_t at) {
  if (series == nullptr) return nullptr;
  const auto found =
      std::partition_point(series->intervals.begin(), series->intervals.end(),
                           [&](const UtilizationInterval& seen) { return seen.end_ms <= at; });
  return found != series->intervals.end() && found->begin_ms <= at ? &*found : nullptr;
}

// The values that count for a holder at an instant: its own, or the device's while it is alone.
const UtilizationInterval* values_for(const SeatInput& seat, const SeatClaim& claim, bool alone,
                                      std::int64_t at) {
  const UtilizationInterval* own = interval_at(claim.own, at);
  return own != nullptr || !alone ? own : interval_at(seat.device, at);
}

// The instants at which holders come and go.
std::set<Instant> holder_changes(const SeatInput& seat, const Interval& during) {
  std::set<Instant> changes = {during.begin(), during.end()};
  for (const SeatClaim& claim : seat.claims) {
    for (const Instant at : {claim.during.begin(), claim.during.end()}) {
      if (during.contains(at)) changes.insert(at);
    }
  }
  return changes;
}

// Within constant holders: also the instants at which the observed usage changes.
std::set<Instant> telemetry_changes(const SeatInput& seat, std::span<const std::size_t> active,
                                    const Interval& during) {
  std::set<Instant> changes = {during.begin(), during.end()};
  const auto add = [&](const UtilizationSeries* series) {
    if (series == nullptr) return;
    for (const UtilizationInterval& seen : series->intervals) {
      for (const std::uint32_t ms : {seen.begin_ms, seen.end_ms}) {
        const Instant at = seat.telemetry_begin + std::chrono::milliseconds(ms);
        if (during.contains(at)) changes.insert(at);
      }
    }
  };
  for (const std::size_t i : active) {
    add(seat.claims[i].own);
    if (active.size() == 1) add(seat.device);
  }
  return changes;
}

std::uint64_t value_of(const UtilizationInterval& seen, std::size_t axis) {
  return axis == kCompute ? seen.compute : seen.memory;
}

// One axis over [from, until), in which nothing changes.
SeatIntervalAxis axis_at(const SeatInput& seat, std::span<const std::size_t> active,
                         std::size_t chosen, std::size_t axis, Instant from, Instant until) {
  SeatIntervalAxis mine;
  mine.capacity = seat.capacity[axis];
  const auto length = static_cast<std::uint64_t>((until - from).count());
  std::vector<Weight> charged;
  std::size_t position = 0;
  for (const std::size_t i : active) {
    const SeatClaim& claim = seat.claims[i];
    const UtilizationInterval* seen =
        values_for(seat, claim, active.size() == 1, (from - seat.telemetry_begin).count());
    std::optional<std::uint64_t> use;
    if (seen != nullptr && value_of(*seen, axis) != UtilizationInterval::kUnknown) {
      use = static_cast<std::uint64_t>(UInt128{value_of(*seen, axis)} * mine.capacity /
                                       CardShare::kUnitsPerCard);
    }
    const std::uint64_t requested = claim.requested[axis];
    const std::uint64_t weighs = use ? charged_units(claim.basis, requested, *use) : requested;
    if (i == chosen) {
      position = charged.size();
      mine.requested = requested;
      mine.observed = use;
      mine.charged = weighs;
    }
    mine.all_charged += weighs;
    charged.push_back(weighs);
  }
  mine.given = UInt128{mine.charged} * length;
  if (mine.all_charged > mine.capacity) {
    mine.given = split_units(UInt128{mine.capacity} * length, charged)[position];
  }
  mine.used = mine.given;
  if (mine.observed && *mine.observed < mine.charged) {
    mine.used = multiply_divide(mine.given, *mine.observed, mine.charged).quotient;
  }
  return mine;
}

}  // namespace

bool SeatIntervalAxis::has_same_values(const SeatIntervalAxis& other) const {
  return requested == other.requested && observed == other.observed && charged == other.charged &&
         all_charged == other.all_charged && capacity == other.capacity;
}

std::vector<SeatInterval> trace_seat_intervals(const SeatInput& seat, std::size_t chosen) {
  std::vector<SeatInterval> intervals;
  const auto add = [&](const SeatInterval& interval) {
    const bool same = !intervals.empty() &&
                      intervals.back().axes[0].has_same_values(interval.axes[0]) &&
                      intervals.back().axes[1].has_same_values(interval.axes[1]);
    if (!same) {
      intervals.push_back(interval);
      return;
    }
    SeatInterval& before = intervals.back();
    before.during = {before.during.begin(), interval.during.end()};
    before.samples += interval.samples;
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      before.axes[axis].given += interval.axes[axis].given;
      before.axes[axis].used += interval.axes[axis].used;
    }
  };
  const auto holders = holder_changes(seat, seat.claims[chosen].during);
  for (auto h = holders.begin(); std::next(h) != holders.end(); ++h) {
    const Interval constant_holders(*h, *std::next(h));
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < seat.claims.size(); ++i) {
      if (seat.claims[i].during.contains(*h)) active.push_back(i);
    }
    const auto changes = telemetry_changes(seat, active, constant_holders);
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
      const Interval during(*at, *std::next(at));
      SeatInterval interval{.during = during, .axes = {}};
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        interval.axes[axis] = axis_at(seat, active, chosen, axis, *at, *std::next(at));
        if (interval.axes[axis].observed) interval.samples = 1;
      }
      add(interval);
    }
  }
  return intervals;
}

}  // namespace pennyweight
