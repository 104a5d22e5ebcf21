// Scenario: what is changed about a period before it is replayed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/replay/scheduling.h"

namespace pennyweight::what_if {

// Nodes added (copies of one that is there, with its price) or taken away. Empty selectors: any.
struct FleetChange {
  std::int64_t nodes = 0;  // negative: taken away
  std::string pool = {};
  std::string gpu_model = {};
};

// The jobs of a team (empty: everybody), in percent of what they were. At 150 every second job runs
// twice, at 50 every second one is left out.
struct DemandChange {
  std::string team = {};
  std::uint32_t percent = 100;
};

// The price of nodes with a GPU model (empty: all nodes), in percent of what it was.
struct PriceChange {
  std::string gpu_model = {};
  std::uint32_t percent = 100;
};

// Nodes with a GPU model (empty: all) as spot capacity, which the provider takes back.
struct SpotChange {
  std::string gpu_model = {};
  std::uint32_t reclaimed_per_hour = 0;  // millionths: how likely each hour takes a node; 0: none
  std::int64_t replaced_after_us = 0;
  std::int64_t checkpoint_every_us = 0;  // 0: a job that loses its node begins anew
  std::uint64_t seed = 1;
};

// Jobs of a team (empty: everybody) that hold one whole GPU get a MIG instance of it instead, where
// the GPUs that they may run on can be cut so.
struct SliceChange {
  std::string team = {};
  std::string profile;               // "1g.5gb"
  std::uint32_t time_percent = 100;  // how long such a job takes then, of what it took
};

// Beyond these a scenario is refused: what a month has may be more, what is added to it may not.
constexpr std::uint64_t kReplayJobsMax = 1'000'000;
constexpr std::uint64_t kReplayMachinesMax = 20'000;
constexpr std::uint64_t kAddedFactsMax = 500'000;  // charges, nodes and GPUs of added nodes

struct Scenario {
  replay::Scheduling scheduling;
  std::vector<FleetChange> fleet;
  std::vector<DemandChange> demand;
  std::vector<PriceChange> prices;
  std::vector<SliceChange> slices;
  SpotChange spot;
  std::int64_t restart_us = 0;  // what an interruption costs a job
  bool uses_limits = false;     // the scheduler knows time limits, and no lengths
  bool any_model = false;       // a job may run on any GPU model, not only on that which it had
};

}  // namespace pennyweight::what_if
