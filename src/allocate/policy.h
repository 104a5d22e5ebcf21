// Policy: the rules by which a run divides charges. Values only; app/ reads it from YAML.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/hash.h"

namespace pennyweight {

// How much of a GPU's cost follows compute share, how much memory share. REQUIRES: a positive sum.
struct ShareWeights {
  std::uint32_t compute = 500;
  std::uint32_t memory = 500;
};

// How a node's price is divided into GPU, CPU and memory.
enum class NodeSplit {
  kResidual,  // CPU and memory at market unit rates, the GPUs the rest (at least half of the price)
  kWholeNode,  // all of it to the GPUs
};

// Where a dimension's value comes from, tried in order; the first label that a workload has wins.
struct DimensionRule {
  std::string dimension;            // "team"
  std::vector<std::string> labels;  // {"team", "account", "namespace"}
  std::string fallback;             // when it has none of them: "(unowned)"
};

struct Policy {
  ShareWeights weights;
  NodeSplit node_split = NodeSplit::kResidual;
  TimeZone time_zone = TimeZone::utc();  // whose days postings are cut by
  std::vector<DimensionRule> dimensions;

  // The canonical text, the same for the same rules, which a run keeps.
  std::string text() const;
  Hash128 version() const { return hash_of(text()); }
};

}  // namespace pennyweight
