// Estimate: what a workload would cost before it runs, at list prices or those of a site.
//
// A group of replicas is priced on machines of one shape: the one that it demands, else the
// cheapest of the catalog that has the GPU it demands and holds its replicas. The machines' price
// is divided into GPUs, CPU and memory as allocation divides it (node_split.h), and of each part
// the group pays the share that it asks for. The rest of these machines is idle: others may use it,
// and if nobody does, somebody pays it. So for every group
//
//   gpu + cpu + memory + idle == price of a machine x machines
//
// with ==. A group without GPUs and without a demanded machine is priced at the market prices of
// CPU and memory. What can't be priced says why; nothing is guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "core/int128.h"
#include "core/money.h"
#include "ingest/manifests/workload_request.h"
#include "insight/guardrails/offers.h"

namespace pennyweight::guardrails {

// A month of a service: 365 x 24 / 12 hours, as the price pages of the clouds count.
inline constexpr std::uint64_t kHoursPerMonth = 730;

struct EstimateOptions {
  std::string provider = {};                          // only machines of this one
  std::string region = {};                            // where the workload states none
  std::string instance_type = {};                     // where the workload demands none
  PurchaseOption option = PurchaseOption::kOnDemand;  // where it does not demand spot
  // The models that names mean: {"a100", "A100-SXM4-80GB"}. The empty name stands for requests
  // that state no model.
  std::map<std::string, std::string, std::less<>> gpu_models = {};
  // Patterns of extended resources that are no GPUs, such as "example.com/fpga".
  std::vector<std::string> other_resources = {};
  Currency currency = kUsd;
  Instant at = {};  // the prices in force then; schedules are counted in its month, in UTC
  std::optional<std::uint64_t> run_ms = {};  // of runs that state no length
  bool lists_alternatives = true;            // they cost more time than the price itself
};

struct PricedMachine {
  std::string provider;
  std::string instance_type;
  std::string gpu_model;
  std::string region;  // empty: all of the provider
  PurchaseOption option = PurchaseOption::kOnDemand;
  Money per_hour = Money::zero(kUsd);
  std::string source;
  bool operator==(const PricedMachine&) const = default;
};

// Another way to run a group, and what all of its machines then cost.
struct Alternative {
  PricedMachine machine;
  std::uint64_t machines = 0;
  Money per_hour = Money::zero(kUsd);
  Money saving_per_hour = Money::zero(kUsd);  // against the machines of the estimate
  bool is_other_gpu = false;
};

struct GroupEstimate {
  manifests::ReplicaGroup group;
  std::string problem = {};                   // why it is not priced; all amounts are then 0
  std::optional<PricedMachine> machine = {};  // absent: market prices of CPU and memory
  std::uint64_t machines = 0;
  // In CardShare units: what all replicas hold at once, and as many as its autoscaler may start.
  UInt128 gpu_units = 0, gpu_units_max = 0;
  // What the replicas of one run hold at most, added up; absent: no limit is stated.
  std::optional<std::uint64_t> replica_ms_max = {};
  // Per hour, of all replicas.
  Money gpu = Money::zero(kUsd);
  Money cpu = Money::zero(kUsd);
  Money memory = Money::zero(kUsd);
  Money idle = Money::zero(kUsd);
  // With as many replicas as its autoscaler may start; absent: it has none.
  std::optional<Money> per_hour_max = {};
  std::optional<Money> per_run_max = {};       // of a run whose length is limited, with all of them
  std::optional<Money> per_month = {};         // of services and schedules
  std::optional<Money> per_month_max = {};     // with as many replicas as its autoscaler may start
  std::vector<Alternative> alternatives = {};  // the cheapest first

  Money per_hour() const { return gpu + cpu + memory; }
};

// How long a group of replicas goes on: as the component does whose it is.
struct GroupTerm {
  manifests::Lifetime lifetime = manifests::Lifetime::kService;
  std::optional<std::uint64_t> runs_per_month = {};  // of a schedule; absent: not known
  bool operator==(const GroupTerm&) const = default;
};

struct WorkloadEstimate {
  manifests::WorkloadRequest workload;
  std::vector<GroupEstimate> groups = {};
  std::optional<std::uint64_t> runs_per_month = {};  // of a schedule
  // The same of each component; absent: it has no schedule, or none that can be read.
  std::vector<std::optional<std::uint64_t>> runs_of_parts = {};
  std::vector<std::string> notes = {};
};

// Amounts of several groups. A sum of runs or months leaves out groups that have none.
struct EstimateTotals {
  Money per_hour = Money::zero(kUsd);
  Money idle = Money::zero(kUsd);
  Money per_run_max = Money::zero(kUsd);
  Money per_month = Money::zero(kUsd);
  Money per_month_max = Money::zero(kUsd);
  std::uint64_t not_priced = 0;      // groups
  std::uint64_t without_length = 0;  // groups that end at an unknown time
  bool operator==(const EstimateTotals&) const = default;
};

struct Estimate {
  Currency currency = kUsd;
  std::vector<WorkloadEstimate> workloads = {};
  std::vector<manifests::UnpricedObject> unpriced = {};
  std::uint64_t without_cost = 0;
  manifests::ClusterObjects cluster = {};  // as in the reading

  EstimateTotals totals() const;
};

EstimateTotals totals_of(const WorkloadEstimate& workload, Currency currency);

// By group. What components of several lifetimes share goes on as a service does.
std::vector<GroupTerm> group_terms(const WorkloadEstimate& workload);

// The most that a month of a service or a schedule costs: of each component by its own lifetime, of
// a run among them one, and no more than a month of it. Absent: not known.
std::optional<Money> month_max_of(const WorkloadEstimate& workload, Currency currency);

// An Error for options that the catalog can't serve: an unknown GPU model or instance type, or a
// reading of more than kGroupsMax groups.
Result<Estimate> estimate_workloads(const manifests::ManifestReading& reading,
                                    const Catalog& catalog, const EstimateOptions& options);
// The same with the offers of this catalog that are kept for many estimates; null: listed anew.
Result<Estimate> estimate_workloads(const manifests::ManifestReading& reading,
                                    const Catalog& catalog, const EstimateOptions& options,
                                    const OfferLists* offers);

inline constexpr std::size_t kGroupsMax = 20'000;

// amount x part / whole, rounded half-even at 10^-18; an Error where it is more than 10^13 units of
// the currency, which no bill has. REQUIRES: whole > 0.
Result<Money> scale_amount(Money amount, std::uint64_t part, std::uint64_t whole);

}  // namespace pennyweight::guardrails
