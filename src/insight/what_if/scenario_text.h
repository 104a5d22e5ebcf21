// Scenarios as people write them: the options of `replay`, and the same in one line,
// "nodes=-20;spot=2%;price=35%", for links and the API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/what_if/questions.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

// What an interruption costs a job if nobody says otherwise.
constexpr std::uint32_t kRestartSeconds = 300;
constexpr std::size_t kScenarioBytesMax = 2000;

struct ScenarioTexts {
  std::string order = "fcfs";
  std::string blocked = "backfill";
  std::string placement = "best-fit";
  bool preempts = false;
  std::optional<std::uint32_t> restart_s;
  std::optional<std::uint32_t> depth;
  std::uint64_t seed = 1;
  std::vector<std::string> weights;        // "TEAM=N"
  std::vector<std::string> nodes;          // "-20:model=H100-SXM5-80GB,pool=train"
  std::vector<std::string> demand;         // "TEAM=150%", "150%"
  std::vector<std::string> prices;         // "MODEL=60%", "60%"
  std::vector<std::string> list_prices;    // "gcp:tier=spot,region=us-central1,date=2026-07-30"
  std::vector<std::string> models;         // "A100-SXM4-40GB=H100-SXM5-80GB"
  std::vector<std::string> bounds;         // "TEAM=memory", "workload:train-*=compute", "55%"
  std::vector<std::string> purchases;      // "40@7.5/1y:model=…,from=2026-03-10", "250@60%/3y"
  std::vector<std::string> slices;         // "TEAM=1g.5gb@120%/08:00-20:00", "1g.5gb"
  std::vector<std::string> mig_nodes;      // "10=1g.5gb/08:00-20:00:model=A100-SXM4-40GB"
  std::vector<std::string> commitments;    // "ID@2026-03-15T00:00:00Z=60%", "2026-03-15T00:00:00Z"
  std::vector<std::string> quotas;         // "TEAM=8", "TEAM=8+4"
  std::vector<std::string> windows;        // "TEAM=20:00-06:00"
  std::vector<std::string> outages;        // "4@2026-03-05T00:00:00Z/24h:pool=train"
  std::vector<std::string> new_teams;      // "acme=nlp@50%"
  std::vector<std::string> repeated;       // "nlp=8x24h@mon 02:00"
  std::vector<std::string> autoscaled;     // "4@5m/10m", "4-20@5m/10m:pool=train"
  std::vector<std::string> slos;           // "TEAM=60", "60": minutes
  std::vector<std::string> power;          // "MODEL=700/100": watts
  std::string spill_over;                  // "pool@60m", "region@0m", "cluster@30m"
  std::optional<std::uint32_t> same_rack;  // nodes of a rack
  std::optional<std::uint32_t> guard_min;
  bool any_model = false;
  bool fitted = false;
  std::string lengths = "true";  // what the scheduler knows of a job's length: "true", "limit"
  std::string spot;              // "MODEL=0.5%", "2%"
  std::string policy;            // a file; whoever reads it divides the scenario's cost by it
  std::string spot_trace;        // a file; whoever reads it fills Scenario::interruptions
  std::optional<std::uint32_t> replaced_min;
  std::optional<std::uint32_t> checkpoint_min;
  // What is asked besides; see questions.h.
  std::uint32_t seeds = 1;
  std::uint32_t demand_range = 0;
  std::optional<std::uint32_t> fewest_nodes;  // minutes
  std::string fewest_model;
  std::optional<std::uint32_t> cheapest_tiers;  // minutes
  std::string tier_model;
  std::string committed;  // "60%"
  std::string spot_tier;  // "35%@2%"
  std::optional<std::uint32_t> tier_kept_min;
  std::optional<std::uint32_t> best_mig;  // minutes
  std::string mig_model;
  std::optional<std::uint32_t> tries;
  std::string_view dashes = "--";  // before an option's name in messages
};

constexpr std::uint32_t kReplacedMinutes = 5;
constexpr std::uint32_t kCheckpointMinutes = 60;
constexpr std::uint32_t kMinutesMax = 44'640;  // a month
constexpr std::uint32_t kRestartSecondsMax = 86'400;
constexpr std::uint32_t kDepth = 500;  // if nobody says otherwise
constexpr std::uint32_t kDepthMax = 1'000'000;
constexpr std::uint32_t kRackNodesMax = 10'000;
constexpr std::uint32_t kWattsMax = 10'000;  // of a GPU
constexpr std::uint32_t kSeedsMax = 50;      // three replays each, with a range of demand
constexpr std::uint32_t kDemandRangeMax = 90;
constexpr std::uint32_t kTries = 60;  // replays of a search if nobody says otherwise
constexpr std::uint32_t kTriesMax = 1'000;
constexpr std::uint32_t kTierKeptMinutes = 10;

// Errors are kBadValue, and name the option.
Result<Scenario> parse_scenario(const ScenarioTexts& texts);
Result<Questions> parse_questions(const ScenarioTexts& texts);

// "key=value" separated by ';', with the names of the options as keys: scheduler, blocked,
// placement, preempt, restart, depth, seed, weight, nodes, demand, price, slice, any-model,
// lengths, spot, replaced-after, checkpoint, quota, off-peak, guard, outage, new-team, repeat,
// mig-nodes, autoscale, slo, power, same-rack, spill-over, fitted, commitment-end, list-price,
// replace-model, bound, commitment-buy; and what is asked: seeds, demand-range, fewest-nodes,
// fewest-model, cheapest-tiers, tier-model, committed, spot-tier, tier-kept, best-mig, mig-model,
// tries. Those that may be repeated are; preempt, any-model and fitted have no value. Empty: as
// nothing but the scheduling of ScenarioTexts.
Result<ScenarioTexts> parse_scenario_line(std::string_view line);

// The line that parse_scenario_line reads as these texts, without what is as by default.
std::string scenario_line(const ScenarioTexts& texts);

Result<replay::Scheduling> parse_scheduling(const std::string& order, const std::string& blocked,
                                            const std::string& placement);
// Whether the scheduler knows time limits ("limit") and no lengths ("true").
Result<bool> parse_lengths(const std::string& text);

}  // namespace pennyweight::what_if
