// Splits a node's price into its components: GPUs, CPU and memory.
//
// A bill has one price for an instance. How much of it is for the GPUs is a convention, and fixed
// ratios are outdated (they give the eight H100 of a p5.48xlarge 16 % or 34 % of its price). The
// residual split prices CPU and memory at market prices and leaves the rest to the GPUs: 85 %.
//
// A weight counts 10^-18 of the currency per hour, and the three add up to the price. So split()
// (core/split.h) divides an amount by them as the price divides, losing nothing.
#pragma once

#include <cstdint>

#include "allocation/pricing/catalog.h"
#include "core/decimal.h"
#include "core/split.h"

namespace pennyweight {

struct NodeSplitWeights {
  Weight gpu = 0;
  Weight cpu = 0;
  Weight memory = 0;
  bool capped = false;  // CPU and memory would have taken more than half of the price
  bool operator==(const NodeSplitWeights&) const = default;
};

// Prices CPU and memory at `rates` and leaves the rest to the GPUs. Where CPU and memory would take
// more than half of the price they are scaled down to half of it, keeping their ratio, since a GPU
// node is bought for its GPUs. REQUIRES: `rates` are in the currency of the price.
// REQUIRES: per_hour is not negative.
// ENSURES:  gpu + cpu + memory is the price in ticks; for a price of zero it is 1, all of it gpu.
NodeSplitWeights residual_split(Decimal per_hour, std::uint64_t cpu_milli,
                                std::uint64_t memory_bytes, const HostUnitRates& rates);

// Gives the whole price to the GPUs.
// REQUIRES: per_hour is not negative.
NodeSplitWeights whole_node_split(Decimal per_hour);

}  // namespace pennyweight
