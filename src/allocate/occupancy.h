// Occupancy: over a stretch of time, who held what of a cluster, what of it they used, and what
// nobody could or did have.
//
// Holdings reach the fleet on three levels, each taking from what the one before left over:
//   seat     a holding names a GPU or a MIG instance, or telemetry says on which it is (seat.h);
//   machine  it names a number of devices on a node;
//   pool     it names a number of devices somewhere in a pool of nodes. Pools that are narrower
//            come first; a holder in a pool has a part of every free device, in proportion.
// On each level claims are scaled down only where together they ask for more than there is.
//
// What is left of a machine is `unavailable` during an outage; `stranded` where a MIG layout leaves
// it over, or where the host's CPU or memory was all held, so that nobody could have had a GPU;
// `unbilled` where it was asked for by a holder whose basis is less; and free otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "allocate/demand.h"
#include "allocate/fleet_index.h"
#include "allocate/rules.h"
#include "allocate/seen_index.h"
#include "allocate/share_out.h"
#include "core/quantity.h"

namespace pennyweight {

// A demand within a stretch, and where it is by then.
struct Cut {
  const Demand* demand;
  Demand::Level level;
  std::uint32_t machine;  // kNone: pool
  std::uint32_t target;
  Interval during;
  AxisUnits units{};
};

// A holder's part of one machine.
struct HeldPart {
  std::uint32_t holding;
  std::uint32_t card = kNone;  // an index of Fleet::cards where it is on one
  Interval during;             // within the stretch
  AxisAmounts given{};
  std::array<UInt128, kGpuAxes> used{};  // of given
  GpuTime gpu_time;                      // as asked for, before any scaling
  GpuTime idle_time;                     // of it, that for which telemetry saw nothing done
  GpuTime observed_time;                 // of it, that for which telemetry says something
  MemoryTime memory_time;
};

struct MachineOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};  // left to the pool
  AxisAmounts unavailable{};
  std::array<UInt128, kGpuAxes> stranded{};
  std::array<UInt128, kGpuAxes> unbilled{};
  std::vector<HeldPart> parts;
  std::array<Steps, kAxes> left;  // the residual as it changes; only where a pool takes from it
};

// A holder's part of what a leaf's machines left to the pool.
struct PoolPart {
  std::uint32_t holding;
  Interval during;
  AxisAmounts given{};
};

struct LeafOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};       // what its machines left to the pool
  std::vector<PoolPart> parts;  // by holding; on no axis more than `residual` in all
};

struct Occupancy {
  Interval stretch;
  std::vector<MachineOccupancy> machines;          // as Fleet::machines
  std::vector<LeafOccupancy> leaves;               // as Fleet::leaves
  std::map<std::uint32_t, GpuTime> pool_gpu_time;  // by holding, as asked for
  std::map<std::uint32_t, MemoryTime> pool_memory_time;
};

// What all parts of an allocation look at.
struct Surroundings {
  const Fleet& fleet;
  std::span<const Selector> selectors;
  const SharingRules& rules;
  std::span<const Holding* const> holdings;
};

// Cuts of one stretch: by machine, then seats before the machine itself, then target, then holding;
// those in pools at the end.
std::vector<Cut> cuts_of(const Interval& stretch, std::span<const Demand* const> active,
                         const Surroundings& around, const SeenIndex& seen);

// One machine over a stretch. `cuts` are all of its cuts. Many threads may do this at once.
MachineOccupancy machine_occupancy(const Interval& stretch, std::uint32_t machine,
                                   std::span<const Cut> cuts, const Surroundings& around,
                                   const SeenIndex& seen, bool pool_takes);

// Adds to the machines of `occupancy` what pools take. REQUIRES: its machines are done.
void share_pools(Occupancy& occupancy, std::span<const Cut> pool_cuts, const Surroundings& around);

}  // namespace pennyweight
