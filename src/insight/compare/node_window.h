// NodeWindow: the cost and capacity of a node over a window of time and what is requested of it,
// and each product's formula for dividing that cost. The formulas work on plain numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/int128.h"
#include "insight/compare/preset.h"

namespace pennyweight {

// An amount of each resource, times milliseconds.
struct ResourceTime {
  UInt128 gpu = 0;     // CardShare units × ms
  UInt128 cpu = 0;     // thousandths of a vCPU × ms
  UInt128 memory = 0;  // bytes × ms
};

// What one holding is allocated in a window: the larger of its request and its usage. The ledger
// has no usage of CPU and host memory; both AWS and OpenCost then take the request.
struct WindowClaim {
  std::uint32_t holding = 0;   // its index
  std::optional<UInt128> gpu;  // as the preset counts; absent: the product does not document it
  UInt128 cpu = 0;
  UInt128 memory = 0;
  std::uint64_t slices = 1;  // of MIG: the compute slices of the whole GPU; 1 of anything else
};

struct NodeWindow {
  std::uint64_t nodes = 1;  // several where holders name a pool but no node
  ComponentCosts costs;     // of all these nodes, by the preset's own split
  ResourceTime capacity;
  std::vector<WindowClaim> claims;
};

struct WindowCosts {
  std::vector<ComponentCosts> claims;  // one for each claim
  Money idle;          // cost without a holder; negative where more was charged than the node costs
  Money undocumented;  // cost that the product does not document how to divide
};

// OpenCost: each resource's amount at its unit price; idle is the rest, and may be negative.
// AWS: allocated over available, and unused cost again by the same ratio, so that all of it goes to
//   the pods of the hour, if there are any.
// Koku: GPUs alone; nothing for a node that no GPU pod ran on, and an excess has no owner. On a
//   node with MIG its unallocated row counts slices, and takes a whole GPU that is held for one.
// Of several nodes, AWS and Koku take the fewest that can hold what is requested as those that pods
// ran on, as our own allocation fills interchangeable machines one after the other.
WindowCosts price_window(Preset preset, const NodeWindow& window);

}  // namespace pennyweight
