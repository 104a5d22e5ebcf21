// Activity: what workloads held and how many there were, by any dimension and by day, from the
// holdings themselves. So it needs neither bills nor an allocation.
//
// Every holding is cut at the borders of the local days (weeks, months), to the millisecond, and
// each measure of a piece is a whole number of units times milliseconds. So days add up to the
// month with ==, across midnight and summer time. Holdings are streamed; memory depends on the
// number of rows alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/gpu_memory.h"
#include "allocation/policy/policy.h"
#include "core/billing_period.h"
#include "core/hash.h"
#include "core/quantity.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outcome.h"
#include "ledger/summary.h"
#include "reporting/queries/holding_dimensions.h"
#include "reporting/queries/host_usage_day.h"

namespace pennyweight {

// Units times milliseconds, but for the counts.
struct ActivityMeasures {
  std::uint64_t started = 0;        // that began in the time
  std::uint64_t ended = 0;          // that ended in it, or at its end
  std::uint64_t running = 0;        // that held anything in it
  std::uint64_t never_started = 0;  // among those that ended
  GpuTime gpu;
  MemoryTime gpu_memory;  // bytes
  UInt128 devices = 0;    // as requested, each as one: a GPU, a MIG instance, a shard, a replica
  UInt128 gres_gpus = 0;  // of these, what Slurm counts as gres/gpu: GPUs and MIG instances
  UInt128 gres_shards = 0;
  UInt128 cpu_milli = 0;
  UInt128 memory_bytes = 0;
  UInt128 nodes = 0;  // nodes held, each by each of its holders
  UInt128 wall = 0;
  // Of those that began in the time and say when they were submitted: how many, and how long they
  // waited in all (a count of holdings, and milliseconds).
  std::uint64_t waited = 0;
  UInt128 wait = 0;
  // Of those that began in the time and say how many tasks they had (kTasksLabel): how many there
  // are, and their tasks.
  std::uint64_t with_tasks = 0;
  std::uint64_t tasks = 0;
  // What the nodes have, where rows are of nodes: clusters, pools, models, types, regions.
  GpuTime gpu_capacity;
  UInt128 cpu_milli_capacity = 0;
  UInt128 node_capacity = 0;
  // What they used of their hosts, in the time in which it is known, and what they had requested
  // then. Beside each: what those used that had requested anything.
  UInt128 cpu_used = 0;  // one core
  UInt128 cpu_used_of_requested = 0;
  UInt128 cpu_milli_known = 0;
  UInt128 memory_used = 0;  // KiB
  UInt128 memory_used_of_requested = 0;
  UInt128 memory_bytes_known = 0;
  UInt128 memory_peak = 0;  // KiB
  UInt128 memory_peak_of_requested = 0;
  UInt128 memory_bytes_peak_known = 0;
  // CPU time of jobs by their number of cores: under 50, 250, 500 and 1,000, and more.
  UInt128 cpu_by_size[5] = {};

  ActivityMeasures& operator+=(const ActivityMeasures& other);
};

// What could not be counted, over all rows.
struct ActivityGaps {
  std::uint64_t without_cpu = 0;     // holdings that state no CPU
  std::uint64_t without_memory = 0;  // that state no host memory
  std::uint64_t without_share = 0;   // whose share of a GPU is not known
  std::uint64_t without_node = 0;    // that name only a pool: the number of their nodes is unknown
  std::uint64_t without_submit = 0;  // that began, and do not say when they were submitted
  std::uint64_t without_tasks = 0;   // that began, and do not say how many tasks they had
  std::uint64_t suspended = 0;       // that were suspended
  UInt128 suspended_ms = 0;          // of them, in the time
};

struct ActivityOptions {
  std::vector<std::string> by;         // see holding_dimensions.h
  std::vector<SummaryFilter> filters;  // of the same dimensions
  std::optional<Instant> from, to;     // empty: without a border
  TimeBucket step = TimeBucket::kNone;
};

struct ActivityKey {
  std::string bucket;  // "2026-03-01", the first local day; empty without a step
  std::vector<std::string> keys;
  auto operator<=>(const ActivityKey&) const = default;
};

class Activity {
 public:
  // REQUIRES: what is passed outlives this.
  Activity(const ActivityOptions& options, const Policy& policy, const std::vector<Node>& nodes,
           const std::vector<Gpu>& gpus);

  // How nodes were bought. Before anything is added; without it they have no price_tier.
  void set_price_tiers(NodePriceTiers tiers) { values_.set_price_tiers(std::move(tiers)); }

  void add(const Holding& holding);
  // A job that held nothing, which counts where jobs are counted; other outcomes do not.
  void add(const Outcome& outcome);
  // Adds what a holding used of its hosts on a day, or a part of it. Once for each day.
  void add_host_usage(const Holding& holding, const HostUsageDay& usage, const Interval& day);
  // Adds what the nodes have, if the rows are of nodes and the time has borders or `until` ends it.
  void add_capacity(Instant until);

  const std::map<ActivityKey, ActivityMeasures>& rows() const { return rows_; }
  const ActivityMeasures& total() const { return total_; }
  const ActivityGaps& gaps() const { return gaps_; }
  bool has_capacity() const { return has_capacity_; }

 private:
  // A part of a holding that is on one node, or somewhere.
  struct Portion {
    const Node* node = nullptr;
    std::uint64_t devices = 0;
    std::optional<std::uint64_t> cpu_milli;
    std::optional<std::uint64_t> memory_bytes;
    std::uint64_t nodes = 0;
    CardShare compute;  // of one device
    bool is_share_unknown = false;
    std::uint64_t gpu_memory_bytes = 0;  // of all devices
  };

  std::vector<Portion> portions_of(const Holding& holding) const;
  // `gpu`: the one that it is on, if that is known.
  Portion portion_on(const Holding& holding, const Node* node, std::uint64_t devices,
                     const Gpu* gpu, const std::string& profile) const;
  bool passes(const Holding& holding, const Portion& portion, const Labels& resolved) const;
  std::vector<std::string> keys_of(const Holding& holding, const Portion& portion,
                                   const Labels& resolved) const;
  std::vector<std::pair<std::string, Interval>> buckets_of(const Interval& time) const;
  // Whether `row` has another holding of this run of a job already: a job with several kinds of
  // device has a holding for each, and is one job.
  bool is_run_in(const ActivityKey& row, const Holding& holding);

  ActivityOptions options_;
  const Policy& policy_;
  HoldingDimensions values_;
  std::map<std::pair<std::string, std::string>, const Gpu*> gpus_;  // by cluster and UUID
  GpuMemory gpu_memory_;
  bool has_capacity_ = false;
  std::map<ActivityKey, ActivityMeasures> rows_;
  ActivityMeasures total_;
  ActivityGaps gaps_;
  // Only of runs with several holdings, which are few: the hash of row and run.
  std::set<Hash128> runs_;
  // Of the last run whose first holding has its attempt alone: the rows that it is in.
  Hash128 first_ = {};
  std::set<Hash128> rows_of_first_;
};

}  // namespace pennyweight
