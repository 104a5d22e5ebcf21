// what_if(): replays a month of one cluster under a scenario, and divides its cost anew.
//
// The cost is what the allocation engine says about the changed facts under the same policy, not
// hours times a price: idle that moves from one team to nobody saves nothing. Telemetry of a replay
// does not exist, so both sides are divided by what was requested.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/compare/policy_costs.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

// Times in microseconds, GPU time in thousandths of a GPU times microseconds; both within the
// period.
struct JobFigures {
  std::uint64_t jobs = 0;
  std::uint64_t never_start = 0;  // too large for the fleet
  std::int64_t wait_mean = 0;     // from submission to first start
  std::int64_t wait_p50 = 0;
  std::int64_t wait_p95 = 0;
  std::int64_t wait_p99 = 0;
  Int128 held = 0;
  Int128 capacity = 0;
  Int128 unfinished = 0;  // work that is left when the period ends, in jobs that were to run in it
  std::uint64_t interruptions = 0;
  Int128 unavailable = 0;  // of nodes that were taken back
  Int128 lost = 0;         // of `held`: work that had to be done again
};

// The same of one team; a job that never starts has no wait.
struct TeamFigures {
  std::uint64_t jobs = 0;
  Int128 held = 0;
  std::int64_t wait_mean = 0;
  std::int64_t wait_p95 = 0;
};
// The jobs of nobody have an empty name.
using FiguresByTeam = std::map<std::string, TeamFigures>;

struct WhatIfInput {
  std::string month;
  Interval period;
  ComparedCluster cluster;  // utilization and corrections are not read
  Policy policy;
  Scenario scenario;
  replay::Scheduling calibration;  // the policy that really ran
  // How far the replay of what really ran may be off, in percent of the GPU time held. A scenario
  // is refused beyond it.
  std::uint32_t error_percent_max = 5;
  std::string team_dimension = "team";
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
};

struct WhatIf {
  JobFigures was;         // by the ledger
  JobFigures calibrated;  // the replay of it
  JobFigures would_be;
  FiguresByTeam teams_calibrated;
  FiguresByTeam teams_would_be;
  MethodCosts cost_was{ClusterId(""), {}, {}};
  MethodCosts cost_would_be{ClusterId(""), {}, {}};
  std::uint64_t left_as_they_were = 0;  // holdings that no replay moves
  std::uint64_t rounded_up = 0;         // jobs whose fractions became whole GPUs
  std::uint64_t partly_there = 0;       // nodes counted as if there all the time
};

Result<WhatIf> what_if(const WhatIfInput& input);

}  // namespace pennyweight::what_if
