// A seat (a card, or a MIG instance of one) over a stretch of time: what each of its holders is
// charged by, what of that was used, and what is left.
//
// At every moment, on compute and on memory, with what each holder asked for (a) and was seen to
// use (u): x = a, u, max(a, u) or a blend of both, as its basis says, and a where nothing was seen.
// Where the holders' x together are more than the seat they are scaled down to it, by largest
// remainder. Time is cut at every change of holders and at every sample, so nothing is sampled or
// averaged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocate/fleet_index.h"
#include "allocate/seen.h"
#include "allocate/share_out.h"

namespace pennyweight {

struct SeatClaim {
  Interval during;  // within the stretch
  GpuUnits asked{};
  Basis basis;
  const SeenSeries* own = nullptr;  // the holder's own values on this seat, where there are any
};

// Amounts are unit-milliseconds: CardShare units of the whole card, over the stretch.
struct SeatShare {
  GpuUnits given{};            // charged by
  GpuUnits used{};             // of given; all of it where nothing was seen
  std::uint64_t idle = 0;      // compute asked for and, as far as was seen, not used
  std::uint64_t observed = 0;  // compute asked for while compute was seen
};

struct SeatOccupancy {
  std::vector<SeatShare> shares;  // as the claims
  GpuUnits residual{};            // what nobody is charged by
  GpuUnits unbilled{};            // of the residual: asked for, but its holder's basis is less
  Steps left[kGpuAxes];           // the residual as it changes, where it was asked for
};

struct SeatInput {
  Interval stretch;     // that the seat is there
  GpuUnits capacity{};  // of the seat
  std::span<const SeatClaim> claims;
  // The device's own values: a holder's while it is alone and has none of its own at the moment.
  const SeenSeries* device = nullptr;
  Instant seen_from;  // instant 0 of the series
  bool with_steps = false;
};

// REQUIRES: the stretch is no longer than 25 hours, capacities no more than a card.
SeatOccupancy share_seat(const SeatInput& input);

// What a holder is charged by at a moment, before any scaling.
std::uint64_t charged_by(const Basis& basis, std::uint64_t asked, std::uint64_t used);

}  // namespace pennyweight
