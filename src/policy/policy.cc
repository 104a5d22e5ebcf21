#include "policy/policy.h"

#include <fmt/format.h>

namespace pennyweight {

std::string Policy::text() const {
  std::string text = fmt::format(
      "weights: {{compute: {}, memory: {}}}\n"
      "node_split: {}\n"
      "time_zone: {}\n"
      "dimensions:\n",
      weights.compute, weights.memory,
      node_split == NodeSplit::kResidual ? "residual" : "whole_node", time_zone.name());
  for (const DimensionRule& rule : dimensions) {
    text += fmt::format("  {}: {{from: [", rule.dimension);
    for (std::size_t i = 0; i < rule.labels.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", rule.labels[i]);
    }
    text += fmt::format("], fallback: {}}}\n", rule.fallback);
  }
  return text;
}

}  // namespace pennyweight
