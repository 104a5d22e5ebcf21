// Scenario: what is changed about a period before it is replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/date.h"
#include "core/decimal.h"
#include "core/money.h"
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

// Nodes with GPUs at list prices. Empty selectors: any.
struct ListPriceChange {
  // "same": that of each node's own instance type; a provider: what it takes for the node's GPUs;
  // or an instance type, whose price is taken by the GPU.
  std::string source;
  PurchaseOption tier = PurchaseOption::kOnDemand;
  std::string region = {};  // empty: the node's own at its own provider, elsewhere the cheapest
  std::optional<Date> date = {};          // of the price; nothing: the period's first day
  std::optional<Currency> currency = {};  // converted into it at that day's rate
  std::string pool = {};
  std::string gpu_model = {};
};

// All GPUs of a model replaced by as many of another one.
struct ModelChange {
  std::string from;
  std::string to;
};

// What limits how fast jobs are on another GPU model.
enum class Bound { kUnknown, kCompute, kMemory };
std::string_view bound_text(Bound bound);  // "unknown", "compute", "memory"

// That of the jobs of a team, or of workloads that fit a pattern with '*'; both empty: of all.
struct BoundChange {
  std::string team = {};
  std::string workload = {};
  Bound bound = Bound::kUnknown;
  // Instead of a bound: how long they take there, in percent of what they took, as measured.
  std::optional<std::uint32_t> time_percent = {};
};

// A commitment that is bought: a number of nodes, or an amount an hour. Empty selectors: any node
// with GPUs.
struct CommitmentPurchase {
  std::string text;         // as it was asked for
  std::uint32_t nodes = 0;  // 0: an amount
  // Of a node, or the amount; nothing: the list price of `listed`.
  std::optional<Decimal> per_hour = {};
  std::optional<PurchaseOption> listed = {};
  std::uint32_t percent = 0;  // of an amount: what it pays for, of the price on demand
  std::uint32_t years = 0;    // of its term; 0: not said
  std::optional<Date> from = {};
  std::string pool = {};
  std::string gpu_model = {};
};

// A commitment (empty: each of them) that ends, in milliseconds of Unix time; or that is exchanged
// for one which costs so many percent of the price on demand.
struct CommitmentChange {
  std::string id = {};
  std::int64_t from_ms = 0;
  std::optional<std::uint32_t> percent = {};
};

// Nodes with a GPU model (empty: all) as spot capacity, which the provider takes back.
struct SpotChange {
  std::string gpu_model = {};
  std::uint32_t reclaimed_per_hour = 0;  // millionths: how likely each hour takes a node; 0: none
  std::int64_t replaced_after_us = 0;
  std::int64_t checkpoint_every_us = 0;  // 0: a job that loses its node begins anew
  std::uint64_t seed = 1;
};

// Nodes that are away for a time; those with the first names. Empty selectors: any.
struct OutageChange {
  std::uint32_t nodes = 0;
  std::int64_t begin_ms = 0;  // of Unix time
  std::int64_t length_us = 0;
  std::string pool = {};
  std::string gpu_model = {};
};

// A node that its provider took back for a time, as a trace says. In milliseconds of Unix time.
struct NodeInterruption {
  std::string node;
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
};

// A team that is not there yet, with jobs as another one has them, in percent of theirs.
struct NewTeam {
  std::string name;
  std::string like;
  std::uint32_t percent = 100;
};

// A job of a team that comes again: each week, or each day.
struct RepeatedJob {
  std::string team;
  std::uint32_t gpus = 0;
  std::int64_t work_us = 0;
  std::optional<std::uint32_t> weekday = {};  // 0: Monday; nothing: each day
  std::uint32_t minute = 0;                   // of the day, in UTC
};

// Jobs of a team (empty: everybody) that hold one whole GPU get a part of it instead: a MIG
// instance, where the GPUs that they may run on can be cut so, or a percentage, as time-slicing and
// MPS share a GPU.
struct SliceChange {
  std::string team = {};
  std::string profile;  // "1g.5gb", "25%"
  // Jobs that are submitted in this part of each day, in UTC; nothing: all day.
  std::optional<replay::DailyWindow> window = {};
  std::uint32_t time_percent = 100;  // how long such a job takes then, of what it took
};

// Nodes whose GPUs are cut into instances of one profile, as many as there is room for: those with
// the last names. Empty selectors: any.
struct MigNodesChange {
  std::uint32_t nodes = 0;
  std::string profile;  // "1g.5gb"
  // The part of each day in UTC in which they are cut; whole at other times. Nothing: all month.
  std::optional<replay::DailyWindow> window = {};
  std::string pool = {};
  std::string gpu_model = {};
};

// Nodes that are started while jobs wait for them and stopped when nobody needs them, as by a
// cluster autoscaler. Empty selectors: any.
struct AutoscaleChange {
  std::uint32_t least = 0;                 // nodes that are always on
  std::optional<std::uint32_t> most = {};  // nodes of the pool; nothing: as many as there are
  std::int64_t start_us = 0;
  std::int64_t kept_us = 0;  // how long a node stays on of which nobody holds anything
  std::string pool = {};
  std::string gpu_model = {};
};

// What jobs stay in until they have waited for so long, and then may leave.
enum class HomeScope { kPool, kRegion, kCluster };
std::string_view home_scope_text(HomeScope scope);  // "pool", "region", "cluster"
struct SpillChange {
  HomeScope scope = HomeScope::kPool;
  std::int64_t after_us = 0;
};

// How long the jobs of a team (empty: everybody else's) may wait.
struct QueueLimit {
  std::string team = {};
  std::int64_t wait_us = 0;
};

// What a GPU of a model draws while somebody holds it, and while it is on and nobody does.
struct PowerRate {
  std::string gpu_model = {};
  std::uint32_t held_watts = 0;
  std::uint32_t idle_watts = 0;
};
// Of the TDP, where nobody says what an idle GPU draws.
constexpr std::uint32_t kIdlePowerPercent = 15;

// Beyond these a scenario is refused: what a month has may be more, what is added to it may not.
constexpr std::uint64_t kReplayJobsMax = 1'000'000;
constexpr std::uint64_t kReplayMachinesMax = 20'000;
constexpr std::uint64_t kAddedFactsMax = 500'000;  // charges, nodes and GPUs of added nodes

struct Scenario {
  replay::Scheduling scheduling;
  std::vector<FleetChange> fleet;
  std::vector<DemandChange> demand;
  std::vector<PriceChange> prices;
  std::vector<ListPriceChange> list_prices;
  std::vector<ModelChange> replaced_models;
  std::vector<BoundChange> bounds;
  std::vector<CommitmentPurchase> purchases;
  std::vector<SliceChange> slices;
  std::vector<MigNodesChange> mig_nodes;
  std::vector<CommitmentChange> commitments;
  SpotChange spot;
  std::vector<OutageChange> outages;
  std::vector<NodeInterruption> interruptions;
  std::vector<NewTeam> new_teams;
  std::vector<RepeatedJob> repeated;
  std::vector<AutoscaleChange> autoscaled;
  std::vector<QueueLimit> queue_limits;
  std::vector<PowerRate> power;
  std::optional<SpillChange> spill_over = {};
  std::uint32_t rack_nodes = 0;  // of each rack, by name; 0: racks don't matter
  std::int64_t restart_us = 0;   // what an interruption costs a job
  bool fitted = false;           // jobs are drawn by a generator that is fitted to the month's
  bool uses_limits = false;      // the scheduler knows time limits, and no lengths
  bool any_model = false;        // a job may run on any GPU model, not only on that which it had
};

}  // namespace pennyweight::what_if
