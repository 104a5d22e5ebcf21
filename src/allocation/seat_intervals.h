// Traces a seat interval by interval, in the plainest way, to explain an amount.
//
// It applies the rule of seat.h independently, and its amounts must equal those of seat.h to the
// unit. So an explanation is also a check.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocation/seat.h"
#include "core/int128.h"

namespace pennyweight {

// One axis of one holder, in CardShare units of a GPU.
struct SeatIntervalAxis {
  std::uint64_t requested = 0;
  std::optional<std::uint64_t> observed;  // absent: not observed, and so charged by request
  std::uint64_t charged = 0;              // by the holder's basis
  std::uint64_t all_charged = 0;          // the sum over all holders
  std::uint64_t capacity = 0;             // of the seat
  UInt128 given = 0;  // unit-milliseconds, scaled down where together > capacity
  UInt128 used = 0;   // of given
  bool has_same_values(const SeatIntervalAxis& other) const;
};

struct SeatInterval {
  Interval during;
  std::uint64_t samples = 0;  // how many telemetry samples it rests on
  std::array<SeatIntervalAxis, kGpuAxes> axes;
};

// The intervals of the chosen claim, ascending; neighbours with the same values are merged.
std::vector<SeatInterval> trace_seat_intervals(const SeatInput& seat, std::size_t chosen);

}  // namespace pennyweight
