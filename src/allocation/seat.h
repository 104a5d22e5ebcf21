// Divides a seat (a GPU or one MIG instance) among its holders: what each is charged by, how much
// of that it used, and what is left.
//
// At every moment, for compute and for memory, with a holder's request (a) and its observed usage
// (u), x = a, u, max(a, u) or a blend of both, by its basis; x = a where nothing was observed.
// Where the holders' x together exceed the seat, they are scaled down to it by largest remainder.
// Time is cut at every change of holders and at every sample, so nothing is averaged. Holders whose
// weights of compute and memory differ may weigh more than the seat together, though they are given
// no more of either than it has: then their weights are cut to that of the seat, at that moment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocation/divide_capacity.h"
#include "allocation/fleet_index.h"
#include "allocation/rules.h"
#include "allocation/utilization.h"

namespace pennyweight {

struct SeatClaim {
  Interval during;  // within the seat's presence
  GpuUnits requested{};
  Basis basis;
  const UtilizationSeries* own =
      nullptr;               // the holder's own values on this seat, where there are any
  UnitWeights weights = {};  // only with SeatInput::weights
};

// Amounts are unit-milliseconds: CardShare units of a whole GPU, over the seat's presence.
struct SeatShare {
  GpuUnits given{};            // what the holder is charged by
  GpuUnits used{};             // of given; all of it where nothing was observed
  std::uint64_t idle = 0;      // compute requested and observed not to be used
  std::uint64_t observed = 0;  // compute requested while compute was observed
  UInt128 weight_cut = 0;      // of the weight of `given`
};

struct SeatOccupancy {
  std::vector<SeatShare> shares;  // as the claims
  GpuUnits residual{};            // what no holder is charged by
  GpuUnits unbilled{};            // of the residual: requested, but the holder's basis charges for
                                  // less
  Steps left[kGpuAxes];           // the residual over time; only with SeatInput::with_steps
};

struct SeatInput {
  Interval during;      // in which the seat is there
  GpuUnits capacity{};  // of the seat
  std::span<const SeatClaim> claims;
  // The device's own values. They count for a holder while it is alone on the seat and has no
  // values of its own.
  const UtilizationSeries* device = nullptr;
  Instant telemetry_begin;  // instant 0 of the series
  bool with_steps = false;
  // Of the seat, where its holders' differ. REQUIRES: then the seat is a whole GPU, so that a
  // holder that is alone never weighs more than it.
  std::optional<UnitWeights> weights = {};
};

constexpr bool is_whole_gpu(const GpuUnits& units) {
  return units[kCompute] == CardShare::kUnitsPerCard && units[kMemory] == CardShare::kUnitsPerCard;
}

// REQUIRES: `during` is no longer than 25 hours, and the capacity no more than a GPU.
SeatOccupancy share_seat(const SeatInput& input);

// The units that a holder is charged by at a moment, before any scaling.
std::uint64_t charged_units(const Basis& basis, std::uint64_t requested, std::uint64_t used);

}  // namespace pennyweight
