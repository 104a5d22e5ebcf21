// Slot: what a node costs and has over a stretch of time, who asks for what of it, and what each
// peer makes of that. The peers' formulas themselves are here, over plain numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compare/preset.h"
#include "core/int128.h"

namespace pennyweight {

// An amount of each resource, times milliseconds.
struct ResourceTime {
  UInt128 gpu = 0;     // CardShare units × ms
  UInt128 cpu = 0;     // thousandths of a vCPU × ms
  UInt128 memory = 0;  // bytes × ms
};

// What one holding is allocated in a slot: the larger of its request and its use. The ledger knows
// no use of CPU and host memory; both AWS and OpenCost then take the request.
struct SlotClaim {
  std::uint32_t holding = 0;   // its index
  std::optional<UInt128> gpu;  // as the preset counts; nothing: the product does not say
  UInt128 cpu = 0;
  UInt128 memory = 0;
};

struct Slot {
  std::uint64_t nodes = 1;  // several where holders name no node but a pool
  ComponentCosts costs;     // of them, by the preset's own split
  ResourceTime capacity;
  std::vector<SlotClaim> claims;
};

struct SlotCosts {
  std::vector<ComponentCosts> claims;  // one for each
  Money idle;          // left to nobody; below zero where more was charged than the node costs
  Money undocumented;  // of which the product does not say what becomes of it
};

// OpenCost: each resource's amount at its unit price; idle is the rest, and may be negative.
// AWS: allocated over available, and what is unused again by the same ratio, so that all of it goes
//   to the pods of the hour, if there are any.
// Koku: GPUs alone; nothing for a node that no GPU pod ran on, and an excess is nobody's.
// Of several nodes, AWS and Koku take the fewest that can hold what is asked for as those that pods
// ran on, as our own allocation fills alike machines one after the other.
SlotCosts price_slot(Preset preset, const Slot& slot);

}  // namespace pennyweight
