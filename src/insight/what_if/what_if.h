// what_if(): replays a month of one cluster under a scenario, and divides its cost anew.
//
// The cost is what the allocation engine says about the changed facts under the same policy, not
// hours times a price: idle that moves from one team to nobody saves nothing. Telemetry of a replay
// does not exist, so both sides are divided by what was requested.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "insight/compare/policy_costs.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

// Times in microseconds, GPU time in thousandths of a GPU times microseconds; both within the
// period.
struct TimeFigures {
  std::int64_t mean = 0;
  std::int64_t p50 = 0;
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
};

struct JobFigures {
  std::uint64_t jobs = 0;
  std::uint64_t never_start = 0;               // too large for the fleet
  TimeFigures wait;                            // from submission to first start
  TimeFigures completion;                      // from submission to the end
  std::vector<std::int64_t> wait_percentiles;  // 0 to 100, where any job started
  std::int64_t makespan = 0;                   // from the beginning to the last job's end
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
  std::uint64_t never_start = 0;
  Int128 held = 0;
  TimeFigures wait;
  TimeFigures completion;
  // How many times as long its jobs took as they would have without waiting and interruptions
  // (finish-time fairness), in thousandths.
  std::uint64_t stretch_milli = 1000;
};

// What went on at a moment of a replay: GPUs held in thousandths, and jobs that wait.
struct Moment {
  std::int64_t at_us = 0;
  std::uint64_t held_milli = 0;
  std::uint64_t waiting = 0;
};
constexpr std::size_t kMomentsMax = 200;  // evenly spaced over the period
// The jobs of nobody have an empty name.
using FiguresByTeam = std::map<std::string, TeamFigures>;

// How far a run is; read by other threads. Set watch.stop to end it.
struct WhatIfProgress {
  enum class Stage { kCostWas, kCalibration, kScenario, kCostWouldBe, kDone };
  std::atomic<Stage> stage = Stage::kCostWas;
  std::atomic<std::uint64_t> jobs = 0;  // of this stage's replay
  replay::Watch watch;
};
std::string_view stage_text(WhatIfProgress::Stage stage);

// A repetition of the scenario, to see how far its figures depend on what is not known.
struct Variation {
  std::uint64_t seed = 1;              // of random placement and of spot capacity
  std::uint32_t demand_percent = 100;  // of all jobs, after the scenario's own changes
};

// What a fleet must keep to: 95 % of the jobs wait at most so long, and no job fits no node that
// fits one today.
struct FleetGoal {
  std::int64_t wait_p95_max_us = 0;
  std::string gpu_model = {};  // of the nodes that may be removed or added; empty: any
};

// A fleet that was tried.
struct FleetPoint {
  std::uint64_t nodes = 0;  // of those that may be removed or added
  std::int64_t change = 0;  // nodes more than the scenario has
  JobFigures figures;
  std::map<Currency, Money> bill;
  bool is_enough = false;
};

constexpr std::uint32_t kWaitErrorPercentMax = 50;
constexpr std::int64_t kWaitErrorUs = std::int64_t{30} * 60 * 1'000'000;

struct WhatIfInput {
  std::string month;
  Interval period;
  ComparedCluster cluster;  // utilization and corrections are not read
  Policy policy;
  Scenario scenario;
  std::vector<Variation> variations = {};
  std::optional<FleetGoal> fleet_goal = {};  // asks for the fewest nodes that keep to it
  replay::Scheduling calibration;            // the policy that really ran
  bool calibration_limits = false;           // it knew time limits, and no lengths
  // How far the replay of what really ran may be off, in percent of the GPU time held. A scenario
  // is refused beyond it.
  std::uint32_t error_percent_max = 5;
  // Likewise for the median and the 95th percentile of waiting, of what it was. Waits that differ
  // by less than kWaitErrorUs are near, and it counts only where most jobs say when they could run.
  std::uint32_t wait_error_percent_max = kWaitErrorPercentMax;
  std::string team_dimension = "team";
  Money Costs::* cost = &Costs::effective;
  unsigned threads = 1;
  WhatIfProgress* progress = nullptr;
};

// The changed month, as it was divided: for a ledger of its own.
struct ReplayedMonth {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
};

struct WhatIf {
  JobFigures was;         // by the ledger
  JobFigures calibrated;  // the replay of it
  JobFigures would_be;
  std::vector<JobFigures> varied;  // as WhatIfInput::variations
  std::vector<FleetPoint> fleets;  // tried for WhatIfInput::fleet_goal, by nodes
  FiguresByTeam teams_calibrated;
  FiguresByTeam teams_would_be;
  MethodCosts cost_was{ClusterId(""), {}, {}};
  MethodCosts cost_would_be{ClusterId(""), {}, {}};
  std::vector<Moment> moments_calibrated;
  std::vector<Moment> moments_would_be;
  ReplayedMonth month;
  std::uint64_t with_submit = 0;  // jobs that say when they were submitted
  std::uint64_t jain_was = 0;     // Jain's index of the teams' stretch, in millionths
  std::uint64_t jain_would_be = 0;
  std::uint64_t left_as_they_were = 0;  // holdings that no replay moves
  std::uint64_t rounded_up = 0;         // jobs whose fractions became whole GPUs
  std::uint64_t partly_there = 0;       // nodes counted as if there all the time
};

// An Error of kUnsupported where the calibration is too far off; of kIo where the watch stopped it.
Result<WhatIf> what_if(const WhatIfInput& input);

}  // namespace pennyweight::what_if
