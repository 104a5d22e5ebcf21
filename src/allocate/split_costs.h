// The four costs of a whole, each divided by the same weights.
#pragma once

#include <span>
#include <vector>

#include "core/split.h"
#include "ledger/charge.h"

namespace pennyweight {

// REQUIRES: a positive weight. ENSURES: the parts add up to `costs` in all four, as split() does.
inline std::vector<Costs> split_costs(const Costs& costs, std::span<const Weight> weights) {
  const auto billed = split(costs.billed, weights);
  const auto effective = split(costs.effective, weights);
  const auto list = split(costs.list, weights);
  const auto contracted = split(costs.contracted, weights);
  std::vector<Costs> parts;
  parts.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({billed[i], effective[i], list[i], contracted[i]});
  }
  return parts;
}

}  // namespace pennyweight
