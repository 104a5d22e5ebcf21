// The split of a node's price into GPUs, CPU and memory.
//
// A bill prices an instance as one thing. What part of it the GPUs cost is a convention, and fixed
// ratios have fallen behind (they give the eight H100 of a p5.48xlarge 16 % or 34 % of its price).
// `residual` takes CPU and memory at market prices and leaves the GPUs the rest: 85 %.
//
// A weight is a count of 10^-18 of the currency per hour, and the three add up to the price, so an
// amount divided by them with split() (core/split.h) divides as the price does, losing nothing.
#pragma once

#include <cstdint>

#include "core/decimal.h"
#include "core/split.h"
#include "pricing/catalog.h"

namespace pennyweight {

struct NodeSplitWeights {
  Weight gpu = 0;
  Weight cpu = 0;
  Weight memory = 0;
  bool capped = false;  // CPU and memory would have taken more than half of the price
  bool operator==(const NodeSplitWeights&) const = default;
};

// CPU and memory at `rates`, the GPUs the rest. Where the two would take more than half of the
// price they are scaled down to half of it, keeping their ratio, since a GPU node is bought for its
// GPUs. `rates` are in the currency of the price.
// REQUIRES: per_hour is not negative.
// ENSURES:  gpu + cpu + memory is the price in ticks; for a price of zero it is 1, all of it gpu.
NodeSplitWeights residual_split(Decimal per_hour, std::uint64_t cpu_milli,
                                std::uint64_t memory_bytes, const HostUnitRates& rates);

// All of the price to the GPUs.
// REQUIRES: per_hour is not negative.
NodeSplitWeights whole_node_split(Decimal per_hour);

}  // namespace pennyweight
