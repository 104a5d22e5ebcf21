// Questions: what is asked of a scenario besides its replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "insight/what_if/mig_search.h"
#include "insight/what_if/tier_search.h"

namespace pennyweight::what_if {

// What a fleet must keep to: 95 % of the jobs wait at most so long, and no job fits no node that
// fits one today.
struct FleetGoal {
  std::int64_t wait_p95_max_us = 0;
  std::string gpu_model = {};  // of the nodes that may be removed or added; empty: any
};

struct Questions {
  std::uint32_t seeds = 1;                 // how often the scenario is replayed, from its seed on
  std::uint32_t demand_range_percent = 0;  // and with so much less and more demand
  std::optional<FleetGoal> fleet = {};     // asks for the fewest nodes that keep to it
  std::optional<TierGoal> tiers = {};
  std::optional<MigGoal> mig = {};
};

}  // namespace pennyweight::what_if
