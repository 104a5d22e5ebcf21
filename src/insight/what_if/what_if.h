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
#include "insight/what_if/bought_commitments.h"
#include "insight/what_if/figures.h"
#include "insight/what_if/list_prices.h"
#include "insight/what_if/model_speed.h"
#include "insight/what_if/questions.h"
#include "insight/what_if/scenario.h"
#include "insight/what_if/tier_costs.h"

namespace pennyweight::what_if {

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
  std::optional<Bound> bound = {};     // assumed where nobody says what limits a job
};

// A fleet that was tried.
struct FleetPoint {
  std::uint64_t nodes = 0;  // of those that may be removed or added
  std::int64_t change = 0;  // nodes more than the scenario has
  JobFigures figures;
  std::map<Currency, Money> bill;
  bool is_enough = false;
};

// What the searches found, and in which currency.
struct TierAnswer {
  Currency currency;
  std::uint64_t nodes = 0;  // that may be chosen
  Int128 price = 0;         // of all of them on demand for the whole period, in ticks
  std::vector<TierPoint> points;
};
struct MigAnswer {
  Currency currency;
  std::string gpu_model;
  std::uint64_t nodes = 0;  // that may be cut
  std::uint64_t jobs = 0;   // that move to instances
  MigSearchResult found;
};

constexpr std::uint32_t kWaitErrorPercentMax = 50;
constexpr std::int64_t kWaitErrorUs = std::int64_t{30} * 60 * 1'000'000;

struct WhatIfInput {
  std::string month;
  Interval period;
  ComparedCluster cluster;  // utilization and corrections are not read
  // Where the facts are of several clusters, which are replayed together: these.
  std::vector<ClusterId> clusters = {};
  Policy policy;
  // By which the scenario's cost is divided; nothing: by `policy`, as what was.
  std::optional<Policy> scenario_policy = {};
  // What telemetry saw of workloads and saw them use; empty: nothing.
  std::map<WorkloadId, MeasuredUse> measured = {};
  Scenario scenario;
  std::vector<Variation> variations = {};
  Questions questions = {};         // seeds and demand are those of `variations`
  replay::Scheduling calibration;   // the policy that really ran
  bool calibration_limits = false;  // it knew time limits, and no lengths
  // How far the replay of what really ran may be off, in percent of the GPU time held. A scenario
  // is refused beyond it.
  std::uint32_t error_percent_max = 5;
  // Likewise for the median and the 95th percentile of waiting, of what it was. Waits that differ
  // by less than kWaitErrorUs are near, and it counts only where most jobs say when they could run.
  std::uint32_t wait_error_percent_max = kWaitErrorPercentMax;
  std::string team_dimension = "team";
  Money Costs::* cost = &Costs::effective;
  RateOn rate_on = {};  // for list prices in another currency
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
  std::vector<JobFigures> varied;   // as WhatIfInput::variations, and then those of both bounds
  std::vector<ListedPrice> prices;  // taken from the catalogue
  std::vector<BoughtCommitment> commitments;
  std::vector<SpeedUse> speeds;    // of jobs on another GPU model
  std::vector<FleetPoint> fleets;  // tried for Questions::fleet, by nodes
  std::optional<TierAnswer> tiers;
  std::optional<MigAnswer> mig;
  FiguresByTeam teams_calibrated;
  FiguresByTeam teams_would_be;
  MethodCosts cost_was{ClusterId(""), {}, {}};
  MethodCosts cost_would_be{ClusterId(""), {}, {}};
  TierCosts tiers_was;
  TierCosts tiers_would_be;
  std::vector<Moment> moments_calibrated;
  std::vector<Moment> moments_would_be;
  ReplayedMonth month;
  std::vector<JobTimes> times;    // of each job of the scenario
  std::uint64_t with_submit = 0;  // jobs that say when they were submitted
  std::uint64_t jain_was = 0;     // Jain's index of the teams' stretch, in millionths
  std::uint64_t jain_would_be = 0;
  std::uint64_t left_as_they_were = 0;   // holdings that no replay moves
  std::uint64_t rounded_up = 0;          // jobs whose fractions became whole GPUs
  std::uint64_t charges_kept_whole = 0;  // of autoscaled nodes, that don't go by time
  std::uint64_t nodes_at_average = 0;    // autoscaled, and on while the bill did not charge them
  std::uint64_t partly_there = 0;        // nodes counted as if there all the time
};

// An Error of kUnsupported where the calibration is too far off; of kIo where the watch stopped it.
Result<WhatIf> what_if(const WhatIfInput& input);

}  // namespace pennyweight::what_if
