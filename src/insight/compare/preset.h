// Preset: how another product would allocate the same bill, by its published formulas.
//
// Presets are for comparison only: no run posts by them. They use the node prices of the bill, so
// the difference is the method and not the price list. Cost of devices that a product does not
// document is left out, never guessed. docs/methods/peers.md has each formula with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/money.h"

namespace pennyweight {

enum class Preset {
  kOpenCost,  // OpenCost 1.121, allocations with the default node split
  kAwsScad,   // AWS split cost allocation data for EKS, accelerated instances
  kKoku,      // Red Hat Cost Management (Koku), the GPU cost model
};

inline constexpr Preset kPresets[] = {Preset::kOpenCost, Preset::kAwsScad, Preset::kKoku};

std::string_view to_text(Preset preset);  // "opencost", "aws_scad", "koku"
std::optional<Preset> parse_preset(std::string_view text);

// What one GPU, one vCPU and one GiB count for, in millionths of any unit.
struct RatioWeights {
  std::uint64_t gpu = 0;
  std::uint64_t cpu = 0;
  std::uint64_t gib = 0;
};

// OpenCost's default prices an hour (configs/*.json), AWS's 9 : 0.9 : 0.1, and AWS's 9 : 1 for
// instances without accelerators (user guide, "Example of split cost allocation data").
inline constexpr RatioWeights kOpenCostPrices{.gpu = 950'000, .cpu = 31'611, .gib = 4'237};
inline constexpr RatioWeights kScadAccelerated{.gpu = 9'000'000, .cpu = 900'000, .gib = 100'000};
inline constexpr RatioWeights kScadPlain{.gpu = 0, .cpu = 9'000'000, .gib = 1'000'000};
// An administrator types Koku's GPU rate. Here it is the rate at which the GPUs of a node cost what
// the node costs.
inline constexpr RatioWeights kGpusOnly{.gpu = 1'000'000, .cpu = 0, .gib = 0};

// The capacity of a node, or of several together.
struct Capacity {
  std::uint64_t gpus = 0;
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  bool operator==(const Capacity&) const = default;
};

struct ComponentCosts {
  Money gpu;
  Money cpu;
  Money memory;

  static ComponentCosts zero(Currency currency) {
    const Money none = Money::zero(currency);
    return {none, none, none};
  }
  Money sum() const { return gpu + cpu + memory; }
  ComponentCosts& operator+=(const ComponentCosts& other) {
    gpu += other.gpu;
    cpu += other.cpu;
    memory += other.memory;
    return *this;
  }
  bool operator==(const ComponentCosts&) const = default;
};

// The weights by which a preset splits the price of a node of this capacity.
RatioWeights weights_of(Preset preset, const Capacity& capacity);

// OpenCost's ratio method, and AWS's unit cost: each part of the price is its quantity times its
// weight over the sum of these. Without any weight the GPUs get the price. ENSURES: the parts add
// up to `price`.
ComponentCosts ratio_split(Money price, const Capacity& capacity, const RatioWeights& weights);

// The cost of one GPU, one vCPU and one GiB in a price, rounded down to 10^-18: AWS's unit costs.
// Zero where there are none.
ComponentCosts unit_costs(Money price, const Capacity& capacity, const RatioWeights& weights);

}  // namespace pennyweight
