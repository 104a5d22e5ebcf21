// Splits all four costs by the same weights.
#pragma once

#include <span>
#include <vector>

#include "core/split.h"
#include "ledger/charge.h"

namespace pennyweight {

// Most bills state some cost more than once; equal costs are split once. REQUIRES: a positive
// weight. ENSURES: the parts add up to `costs` in all four, as split() does.
inline std::vector<Costs> split_costs(const Costs& costs, std::span<const Weight> weights) {
  const auto billed = split(costs.billed, weights);
  const auto other = [&](Money cost) {
    return cost == costs.billed ? billed : split(cost, weights);
  };
  const auto effective = other(costs.effective);
  const auto contracted = costs.contracted == costs.effective ? effective : other(costs.contracted);
  const auto list = costs.list == costs.contracted ? contracted : other(costs.list);
  std::vector<Costs> parts;
  parts.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({billed[i], effective[i], list[i], contracted[i]});
  }
  return parts;
}

}  // namespace pennyweight
