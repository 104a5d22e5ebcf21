// FleetHours: which nodes of a cluster were needed in which hour, and which nobody held.
//
// Whole hours of UTC. An hour is recorded if something was held within a day before or after it;
// where at least five holdings begin a day on average, if one began within that time. Where
// holdings end and none begins in all of the period, no hour is recorded. Otherwise the scheduler's
// records are missing, as after the last job of an export, and nothing is said about the hour.
//
// A holding that names nodes or GPUs needs these nodes. Holdings that name a pool need as many free
// devices, CPU and memory there, so nodes are kept until what is left can hold the hour's peak and
// a reserve, since the shapes of jobs don't pack without loss. What only system pods held, as the
// policy's overhead says, was not needed. A node in an outage counts as needed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"
#include "ledger/outage.h"

namespace pennyweight::advising {

// What is kept beyond what was needed.
struct Reserve {
  std::uint32_t pool_percent = 0;  // of what holdings of a pool needed
  std::uint32_t spare_nodes = 0;   // of those that nobody held, in each pool and hour
};

using HourFlags = std::vector<bool>;  // by hour

class FleetHours {
 public:
  // REQUIRES: the arguments outlive it.
  FleetHours(const ClusterMonth& month, const FleetView& fleet, std::span<const Outage> outages,
             const Policy& policy, const Interval& period);

  std::size_t hours() const { return recorded_.size(); }
  std::size_t recorded_hours() const;
  bool is_recorded(std::size_t hour) const { return recorded_[hour]; }
  Interval hour(std::size_t at) const;
  bool is_there(std::uint32_t node, std::size_t hour) const { return there_[node][hour]; }
  // Some holdings name a pool and no node, so that what is free there is an estimate.
  bool has_pooled(std::uint32_t node) const { return pooled_[node]; }

  // The hours in which each node could have been given back, by node. Only nodes of `order` are,
  // the first of them first; all others are used before them.
  std::vector<HourFlags> free_hours(std::span<const std::uint32_t> order,
                                    const Reserve& reserve) const;

 private:
  // What holdings of the same pools and GPU model need in each hour, at its peak.
  struct PoolDemand {
    std::vector<std::uint32_t> nodes;  // that may hold it, sorted
    std::vector<std::uint64_t> gpu_units;
    std::vector<std::uint64_t> cpu_milli;
    std::vector<std::uint64_t> memory_bytes;
    bool has_cpu = true;  // of all of its nodes the CPU is known
    bool has_memory = true;
  };
  struct Amounts {
    UInt128 gpu_units = 0;
    UInt128 cpu_milli = 0;
    UInt128 memory_bytes = 0;
  };

  void mark(HourFlags& flags, const Interval& during) const;
  void add_named(const Holding& holding);
  void add_pooled(std::span<const Holding* const> holdings);
  Amounts capacity(std::uint32_t node) const;
  static bool is_enough(const PoolDemand& demand, const Amounts& there, const Amounts& needed,
                        const Reserve& reserve);

  const FleetView& fleet_;
  Instant begin_;
  HourFlags recorded_;
  std::vector<HourFlags> there_;  // by node
  std::vector<HourFlags> held_;   // by node: a holding that names it, or an outage
  std::vector<bool> pooled_;      // by node
  std::vector<PoolDemand> demands_;
};

}  // namespace pennyweight::advising
