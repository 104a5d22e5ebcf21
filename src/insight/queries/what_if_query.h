// What if: a month of the ledger replayed under a scenario, for the command line and the API.
//
// Loading needs the ledger, and replaying does not: a replay may take minutes, and others need the
// ledger meanwhile.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "insight/queries/measured_use.h"
#include "insight/queries/what_if_amounts.h"
#include "insight/what_if/what_if.h"
#include "ledger/store.h"
#include "reporting/queries/ledger_month.h"
#include "reporting/table.h"

namespace pennyweight {

struct WhatIfQuery {
  std::string month;
  // May be empty where the month has one. Where jobs spill over to other clusters: those that are
  // replayed together, separated by commas, or all of the month.
  std::string cluster = {};
  what_if::Scenario scenario;
  // By which the scenario's cost is divided, and what it is called; nothing: the ledger's policy.
  std::optional<Policy> policy = {};
  std::string policy_name = {};
  what_if::Questions questions = {};
  replay::Scheduling calibration;   // the scheduling that really ran
  bool calibration_limits = false;  // it knew time limits, and no lengths
  std::uint32_t error_percent_max = 5;
  std::uint32_t wait_error_percent_max = what_if::kWaitErrorPercentMax;
  // Of jobs from files that don't say both when a job was submitted and when it started.
  bool has_one_time_of_jobs = false;
  std::string by = "team";  // a dimension of the policy
  std::string cost = "effective";
  unsigned threads = 1;
};

// A month of a cluster, or of several, taken out of the ledger.
struct WhatIfMonth {
  std::string month;
  ClusterId cluster{""};            // "a, b" where several are replayed together
  std::vector<ClusterId> clusters;  // these; empty: one
  ClusterFacts facts;
  MeasuredUses measured;
  Interval period;  // from the first to the last charge
  std::uint64_t last_import = 0;
};

// Errors: kBadValue for a cluster or a dimension that is not there, or a policy that is `policy`.
Result<WhatIfMonth> load_what_if_month(const WhatIfQuery& query, const Policy& policy,
                                       std::span<const JoinRule> join_rules, Store& store);

Result<what_if::WhatIf> run_what_if(const WhatIfQuery& query, const WhatIfMonth& month,
                                    const Policy& policy, const Catalog& catalog,
                                    std::span<const JoinRule> join_rules,
                                    what_if::WhatIfProgress* progress,
                                    const what_if::RateOn& rate_on = {});

// What a scenario of a month can be about.
struct WhatIfChoices {
  std::vector<std::string> clusters;
  std::string cluster;                          // that models and pools are of
  std::map<std::string, std::uint64_t> models;  // GPU models by name, with their nodes
  std::map<std::string, std::uint64_t> pools;   // likewise; "" is no pool
};
// `cluster`: empty for the first one. kNotFound: the month has no charges of a cluster.
Result<WhatIfChoices> what_if_choices(const std::string& month, const std::string& cluster,
                                      std::span<const JoinRule> join_rules, Store& store);

struct WhatIfTables {
  std::string title;  // of what was replayed
  Table calibration;
  Table jobs;
  std::optional<Table> range;        // where the query asks for several replays
  std::optional<Table> fleets;       // where it asks for the fewest nodes
  std::optional<Table> tiers;        // where it asks for the cheapest mix of tiers
  std::optional<Table> mig;          // where it asks for the best MIG layout
  std::optional<Table> prices;       // where it has list prices
  std::optional<Table> speeds;       // where jobs are on another GPU model
  std::optional<Table> commitments;  // where it buys some
  Table teams;
  std::vector<Table> costs;       // one a currency
  std::vector<Table> tier_costs;  // likewise; their totals are those of `costs`
  Table exact;                    // the figures of all jobs and of each team, unrounded
  Table moments;                  // jobs waiting and GPUs held over time
  Table waits;                    // by percentile
  Table gantt;                    // what the first nodes held when; see replayed_runs.h
  WhatIfAmounts amounts;          // of the tables with amounts
};
// Those that are there but the costs, by name: "calibration", "jobs", "range", ….
std::vector<std::pair<std::string_view, const Table*>> named_tables(const WhatIfTables& tables);

WhatIfTables what_if_tables(const WhatIfQuery& query, const WhatIfMonth& month,
                            const what_if::WhatIf& result);
// The same result with all its amounts in one currency. An Error where there is no rate.
Result<WhatIfTables> what_if_tables_in(Currency currency, const ConvertAmount& convert,
                                       const WhatIfQuery& query, const WhatIfTables& tables);
// Says below each table with amounts at which rates they were converted.
void note_rates(std::span<const std::string> rates, WhatIfTables& tables);

}  // namespace pennyweight
