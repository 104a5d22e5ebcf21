// Occupancy: over one segment of time, who held what of a cluster, how much of it they used, and
// why the rest was idle.
//
// Holdings reach the fleet on three levels, each of which takes from what the level before left:
//   seat     a holding names a GPU or a MIG instance, or telemetry reports it on one (seat.h);
//   machine  it names a number of devices on a node;
//   pool     it names a number of devices in a pool of nodes. Pools with fewer node groups come
//            first; a holder in a pool has a part of every free device, in proportion.
// On each level claims are scaled down only where together they request more than there is.
//
// What is left of a machine is `unavailable` during an outage; `stranded` where a MIG layout leaves
// it over, or where all of the host's CPU or memory was held, so that nobody could have used a GPU;
// `unbilled` where a holder requested it but its basis charges for less; and free otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "allocation/demand.h"
#include "allocation/divide_capacity.h"
#include "allocation/fleet_index.h"
#include "allocation/rules.h"
#include "allocation/utilization_index.h"
#include "core/quantity.h"

namespace pennyweight {

// A demand within a segment, at its final place.
struct PlacedDemand {
  const Demand* demand;
  Demand::Level level;
  std::uint32_t machine;  // kNoIndex: pool
  std::uint32_t target;
  Interval during;
  AxisUnits units{};
};

// A holder's share of one machine.
struct MachineHolder {
  std::uint32_t holding;
  std::uint32_t card = kNoIndex;  // an index of Fleet::cards where it is on one GPU
  Interval during;                // within the segment
  AxisAmounts given{};
  std::array<UInt128, kGpuAxes> used{};  // of given
  UInt128 weight_cut = 0;                // of the weight of what is given of a GPU (seat.h)
  GpuTime gpu_time;                      // as requested, before any scaling
  GpuTime idle_time;                     // of gpu_time, what telemetry saw not used
  GpuTime observed_time;                 // of gpu_time, what telemetry covers
  MemoryTime memory_time;
};

// Compute that nobody requested, by what came of it. It is known by instant: what is requested
// twice at one place does not hide that another was free at another time, since a finer bill would
// show it.
struct IdleTime {
  UInt128 unavailable = 0;
  UInt128 stranded = 0;
  UInt128 free = 0;  // may be requested by a pool
  IdleTime& operator+=(const IdleTime& other) {
    unavailable += other.unavailable;
    stranded += other.stranded;
    free += other.free;
    return *this;
  }
};

struct MachineOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};  // left to the pool
  AxisAmounts unavailable{};
  std::array<UInt128, kGpuAxes> stranded{};
  std::array<UInt128, kGpuAxes> unbilled{};
  IdleTime idle;
  std::vector<MachineHolder> holders;
  std::array<Steps, kAxes> left;  // the residual over time; only where a pool takes from it
  // `idle.free` over time, where it may differ from `left`; only where a pool takes from it.
  Steps free_levels;
};

// What a holder in a pool was given on one axis over a time in which that did not change.
struct PoolShareInterval {
  std::uint32_t selector;
  Interval during;
  UInt128 amount;  // units times milliseconds, in all node groups of the selector
};

// What a holder in a pool requested, before any scaling.
struct PoolRequest {
  std::uint32_t selector;
  Interval during;
  std::uint64_t compute;       // units
  std::uint64_t memory_bytes;  // of GPU memory
};

// A holder's share of what the machines of a node group left to the pool. Which machines it is on
// follows from the stretches and requests, instant by instant (pool_fractions.h).
struct PoolHolder {
  std::uint32_t holding;
  Interval during;
  AxisAmounts given{};
  std::array<std::vector<PoolShareInterval>, kAxes> stretches;
  std::vector<PoolRequest> requested;
};

struct NodeGroupOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};           // what its machines left to the pool
  std::vector<PoolHolder> holders;  // by holding; on no axis more than `residual` in all
  std::array<Steps, kAxes> taken;   // what its holders are given together, over time; empty
                                    // without holders in the pool
};

// Where the holders of a selector with several node groups are, over time: in each group in
// proportion to the levels there, in the order of the selector.
struct SelectorLevels {
  std::array<std::vector<Steps>, kAxes> free;  // before the selector takes
  std::vector<Steps> for_time;                 // of compute, and never zero where a machine is
};

struct Occupancy {
  Interval segment;
  std::vector<MachineOccupancy> machines;                  // as Fleet::machines
  std::vector<NodeGroupOccupancy> node_groups;             // as Fleet::node_groups
  std::map<std::uint32_t, SelectorLevels> selectors = {};  // of those with several node groups
  bool has_pool_holders = false;
};

// What every step of an allocation reads.
struct AllocationContext {
  const Fleet& fleet;
  std::span<const Selector> selectors;
  const SharingRules& rules;
  std::span<const Holding* const> holdings;
};

// The demands of one segment, placed: by machine, then seats before the machine itself, then
// target, then holding; those in pools come last.
std::vector<PlacedDemand> place_demands(const Interval& segment,
                                        std::span<const Demand* const> active,
                                        const AllocationContext& context,
                                        const UtilizationIndex& seen);

// Divides one machine over a segment. `placed` are all its demands. Thread-safe.
MachineOccupancy machine_occupancy(const Interval& segment, std::uint32_t machine,
                                   std::span<const PlacedDemand> placed,
                                   const AllocationContext& context, const UtilizationIndex& seen,
                                   bool pool_takes);

}  // namespace pennyweight
