#include "allocate/moments.h"

#include <algorithm>
#include <set>

#include "core/split.h"

namespace pennyweight {
namespace {

// What a series says at an instant; nothing in a gap.
const Seen* seen_at(const SeenSeries* series, std::int64_t at) {
  if (series == nullptr) return nullptr;
  const auto found = std::partition_point(series->seen.begin(), series->seen.end(),
                                          [&](const Seen& seen) { return seen.end_ms <= at; });
  return found != series->seen.end() && found->begin_ms <= at ? &*found : nullptr;
}

// What speaks for a holder at an instant: its own values, or the device's while it is alone.
const Seen* speaks_for(const SeatInput& seat, const SeatClaim& claim, bool alone, std::int64_t at) {
  const Seen* own = seen_at(claim.own, at);
  return own != nullptr || !alone ? own : seen_at(seat.device, at);
}

// Where holders come and go.
std::set<Instant> changes_of_holders(const SeatInput& seat, const Interval& during) {
  std::set<Instant> changes = {during.begin(), during.end()};
  for (const SeatClaim& claim : seat.claims) {
    for (const Instant at : {claim.during.begin(), claim.during.end()}) {
      if (during.contains(at)) changes.insert(at);
    }
  }
  return changes;
}

// While the same holders are there: also where what is seen of them changes.
std::set<Instant> changes_of_telemetry(const SeatInput& seat, std::span<const std::size_t> active,
                                       const Interval& during) {
  std::set<Instant> changes = {during.begin(), during.end()};
  const auto add = [&](const SeenSeries* series) {
    if (series == nullptr) return;
    for (const Seen& seen : series->seen) {
      for (const std::uint32_t ms : {seen.begin_ms, seen.end_ms}) {
        const Instant at = seat.seen_from + std::chrono::milliseconds(ms);
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

std::uint64_t value_of(const Seen& seen, std::size_t axis) {
  return axis == kCompute ? seen.compute : seen.memory;
}

// One axis over [from, until), in which nothing changes.
MomentAxis axis_at(const SeatInput& seat, std::span<const std::size_t> active, std::size_t chosen,
                   std::size_t axis, Instant from, Instant until) {
  MomentAxis mine;
  mine.capacity = seat.capacity[axis];
  const auto length = static_cast<std::uint64_t>((until - from).count());
  std::vector<Weight> charged;
  std::size_t position = 0;
  for (const std::size_t i : active) {
    const SeatClaim& claim = seat.claims[i];
    const Seen* seen = speaks_for(seat, claim, active.size() == 1, (from - seat.seen_from).count());
    std::optional<std::uint64_t> use;
    if (seen != nullptr && value_of(*seen, axis) != Seen::kUnknown) {
      use = static_cast<std::uint64_t>(UInt128{value_of(*seen, axis)} * mine.capacity /
                                       CardShare::kUnitsPerCard);
    }
    const std::uint64_t asked = claim.asked[axis];
    const std::uint64_t weighs = use ? charged_by(claim.basis, asked, *use) : asked;
    if (i == chosen) {
      position = charged.size();
      mine.asked = asked;
      mine.seen = use;
      mine.charged = weighs;
    }
    mine.together += weighs;
    charged.push_back(weighs);
  }
  mine.given = UInt128{mine.charged} * length;
  if (mine.together > mine.capacity) {
    mine.given = split_units(UInt128{mine.capacity} * length, charged)[position];
  }
  mine.used = mine.given;
  if (mine.seen && *mine.seen < mine.charged) {
    mine.used = multiply_divide(mine.given, *mine.seen, mine.charged).quotient;
  }
  return mine;
}

}  // namespace

bool MomentAxis::says_the_same(const MomentAxis& other) const {
  return asked == other.asked && seen == other.seen && charged == other.charged &&
         together == other.together && capacity == other.capacity;
}

std::vector<Moment> moments_of(const SeatInput& seat, std::size_t chosen) {
  std::vector<Moment> moments;
  const auto add = [&](const Moment& moment) {
    const bool same = !moments.empty() && moments.back().axes[0].says_the_same(moment.axes[0]) &&
                      moments.back().axes[1].says_the_same(moment.axes[1]);
    if (!same) {
      moments.push_back(moment);
      return;
    }
    Moment& before = moments.back();
    before.during = {before.during.begin(), moment.during.end()};
    before.samples += moment.samples;
    for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
      before.axes[axis].given += moment.axes[axis].given;
      before.axes[axis].used += moment.axes[axis].used;
    }
  };
  const auto holders = changes_of_holders(seat, seat.claims[chosen].during);
  for (auto h = holders.begin(); std::next(h) != holders.end(); ++h) {
    const Interval together(*h, *std::next(h));
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < seat.claims.size(); ++i) {
      if (seat.claims[i].during.contains(*h)) active.push_back(i);
    }
    const auto changes = changes_of_telemetry(seat, active, together);
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
      const Interval during(*at, *std::next(at));
      Moment moment{.during = during, .axes = {}};
      for (std::size_t axis = 0; axis < kGpuAxes; ++axis) {
        moment.axes[axis] = axis_at(seat, active, chosen, axis, *at, *std::next(at));
        if (moment.axes[axis].seen) moment.samples = 1;
      }
      add(moment);
    }
  }
  return moments;
}

}  // namespace pennyweight
