#include "insight/compare/preset.h"

#include <array>

#include "core/check.h"
#include "core/int128.h"
#include "core/split.h"

namespace pennyweight {
namespace {

// The weights of a GPU, a thousandth of a vCPU and a byte in one unit: 1/(1000 GiB) scaled to whole
// numbers, where 125 · 2^30 is the least common multiple of 1000 and 2^30.
constexpr std::uint64_t kPerGpu = std::uint64_t{125} << 30;
constexpr std::uint64_t kPerCpuMilli = std::uint64_t{1} << 27;
constexpr std::uint64_t kPerByte = 125;

std::array<Weight, 3> parts_of(const Capacity& capacity, const RatioWeights& weights) {
  return {UInt128{capacity.gpus} * weights.gpu * kPerGpu,
          UInt128{capacity.cpu_milli} * weights.cpu * kPerCpuMilli,
          UInt128{capacity.memory_bytes} * weights.gib * kPerByte};
}

}  // namespace

std::string_view to_text(Preset preset) {
  switch (preset) {
    case Preset::kOpenCost:
      return "opencost";
    case Preset::kAwsScad:
      return "aws_scad";
    case Preset::kKoku:
      return "koku";
  }
  return "";
}

std::optional<Preset> parse_preset(std::string_view text) {
  for (const Preset preset : kPresets) {
    if (text == to_text(preset)) return preset;
  }
  return std::nullopt;
}

RatioWeights weights_of(Preset preset, const Capacity& capacity) {
  switch (preset) {
    case Preset::kOpenCost:
      return kOpenCostPrices;
    case Preset::kAwsScad:
      return capacity.gpus > 0 ? kScadAccelerated : kScadPlain;
    case Preset::kKoku:
      return kGpusOnly;
  }
  return kGpusOnly;
}

ComponentCosts ratio_split(Money price, const Capacity& capacity, const RatioWeights& weights) {
  const std::array<Weight, 3> parts = parts_of(capacity, weights);
  if (parts[0] + parts[1] + parts[2] == 0) {
    const Money none = Money::zero(price.currency());
    return {price, none, none};
  }
  const std::vector<Money> costs = split(price, parts);
  return {costs[0], costs[1], costs[2]};
}

ComponentCosts unit_costs(Money price, const Capacity& capacity, const RatioWeights& weights) {
  CHECK(!price.is_negative(), "a unit costs what a price says, not what a credit takes off");
  const std::array<Weight, 3> parts = parts_of(capacity, weights);
  const Weight all = parts[0] + parts[1] + parts[2];
  const auto cost_of = [&](std::uint64_t weight, UInt128 unit, bool there) {
    if (!there || all == 0) return Money::zero(price.currency());
    const auto cost = multiply_divide(static_cast<UInt128>(price.ticks()), weight * unit, all);
    return Money::from_ticks(static_cast<Int128>(cost.quotient), price.currency());
  };
  return {cost_of(weights.gpu, kPerGpu, capacity.gpus > 0),
          cost_of(weights.cpu, UInt128{kPerCpuMilli} * 1000, capacity.cpu_milli > 0),
          cost_of(weights.gib, UInt128{kPerByte} << 30, capacity.memory_bytes > 0)};
}

}  // namespace pennyweight
