// Which cost takes the place of one that a FOCUS file does not state.
//
// FOCUS wants all four in every row. Emitters write only what they know: a marketplace its
// ContractedCost, a data centre its BilledCost. The default of each is the stated cost that differs
// from it by the least, in this order:
//   BilledCost      EffectiveCost, ContractedCost, ListCost
//   EffectiveCost   BilledCost, ContractedCost, ListCost
//   ListCost        ContractedCost, BilledCost, EffectiveCost
//   ContractedCost  BilledCost, EffectiveCost, ListCost
// A file without the column takes it in every row. In a single row only ListCost and
// ContractedCost, which nobody is invoiced, may be empty.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/decimal.h"

namespace pennyweight::focus {

// In the order of Costs.
inline constexpr std::string_view kCostColumns[] = {"BilledCost", "EffectiveCost", "ListCost",
                                                    "ContractedCost"};
inline constexpr std::size_t kCostCount = 4;
using CostColumns = std::array<std::optional<std::size_t>, kCostCount>;  // of the file
using CostCells = std::array<std::optional<Decimal>, kCostCount>;

// The first of a cost's defaults that `is_there`; nothing: none is.
template <class IsThere>
std::optional<std::size_t> find_cost_default(std::size_t cost, const IsThere& is_there) {
  constexpr std::size_t kDefaults[kCostCount][3] = {{1, 3, 2}, {0, 3, 2}, {3, 0, 1}, {0, 1, 2}};
  for (const std::size_t other : kDefaults[cost]) {
    if (is_there(other)) return other;
  }
  return std::nullopt;
}

}  // namespace pennyweight::focus
