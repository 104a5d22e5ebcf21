#include "allocation/pricing/node_split.h"

#include <array>
#include <vector>

#include "core/check.h"
#include "core/int128.h"
#include "core/units.h"

namespace pennyweight {
namespace {

// The cost of `amount` at a price for `per` of it, in whole ticks per hour. The rest, less than a
// tick, stays with the GPUs.
UInt128 cost_of(std::uint64_t amount, Decimal price, std::uint64_t per) {
  CHECK(!price.is_negative(), "the catalog refuses host unit rates below zero");
  // More than a price can be, so that the sum of two is still a number.
  constexpr UInt128 kEnough = static_cast<UInt128>(Decimal::kTicksMax);
  const auto ticks = static_cast<UInt128>(price.ticks());
  if (ticks != 0 && amount / per >= kEnough / ticks) return kEnough;
  return multiply_divide(amount, ticks, per).quotient;
}

}  // namespace

NodeSplitWeights whole_node_split(Decimal per_hour) {
  CHECK(!per_hour.is_negative(), "a list price is not negative");
  const auto price = static_cast<UInt128>(per_hour.ticks());
  return {.gpu = price == 0 ? 1 : price};
}

NodeSplitWeights residual_split(Decimal per_hour, std::uint64_t cpu_milli,
                                std::uint64_t memory_bytes, const HostUnitRates& rates) {
  const Weight price = whole_node_split(per_hour).gpu;
  const UInt128 cpu = cost_of(cpu_milli, rates.per_cpu_hour, kMilliPerCpu);
  const UInt128 memory = cost_of(memory_bytes, rates.per_gib_hour, kBytesPerGib);
  const UInt128 half = price / 2;
  if (cpu + memory <= half) {
    return {.gpu = price - cpu - memory, .cpu = cpu, .memory = memory};
  }
  const std::array<Weight, 2> asked = {cpu, memory};
  const std::vector<UInt128> scaled = split_units(half, asked);
  return {.gpu = price - half, .cpu = scaled[0], .memory = scaled[1], .capped = true};
}

}  // namespace pennyweight
