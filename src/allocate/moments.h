// Moments: what happened on one seat, told again in the plainest way, for an explanation.
//
// It follows the rule of seat.h by itself, one moment after the other, and must come to the same
// amounts to the unit: so an explanation is also a check.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocate/seat.h"
#include "core/int128.h"

namespace pennyweight {

// One axis of one holder, in CardShare units of the card.
struct MomentAxis {
  std::uint64_t asked = 0;
  std::optional<std::uint64_t> seen;  // nothing: not observed, and charged by request
  std::uint64_t charged = 0;          // by its basis
  std::uint64_t together = 0;         // all holders' charged
  std::uint64_t capacity = 0;         // of the seat
  UInt128 given = 0;                  // unit-milliseconds, scaled down where together > capacity
  UInt128 used = 0;                   // of given
  bool says_the_same(const MomentAxis& other) const;
};

struct Moment {
  Interval during;
  std::uint64_t samples = 0;  // of telemetry that say so
  std::array<MomentAxis, kGpuAxes> axes;
};

// Of the chosen claim, ascending; moments that say the same one after the other are one.
std::vector<Moment> moments_of(const SeatInput& seat, std::size_t chosen);

}  // namespace pennyweight
