// Nodes whose GPUs are replaced by those of another model, and how long jobs take there.
//
// A job whose speed is limited by compute takes as much less time as the other model has more dense
// tensor throughput (BF16 where both have it, else FP16); one limited by memory, as it has more
// memory bandwidth. The figures are the catalogue's (core/gpu/gpu_speed.h): what the hardware can
// do at most, not what a framework gets out of it. Where nobody says what limits a job, both are
// replayed, and the scenario itself has the longer time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"
#include "insight/compare/policy_costs.h"
#include "insight/what_if/scenario.h"
#include "ledger/node.h"

namespace pennyweight::what_if {

// What a job's time is multiplied by.
struct TimeRatio {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;
  bool is_longer_than(const TimeRatio& other) const {
    return UInt128{numerator} * other.denominator > UInt128{other.numerator} * denominator;
  }
};

// Jobs to which the same ratio applied.
struct SpeedUse {
  const GpuModel* from = nullptr;
  const GpuModel* to = nullptr;
  Bound bound = Bound::kUnknown;
  std::optional<std::uint32_t> stated_percent = {};
  TimeRatio ratio = {};
  std::uint64_t jobs = 0;
};

class ModelSpeeds {
 public:
  // `assumed`: what limits jobs of which nobody says it. kConfig where the catalogue lacks a figure
  // that is needed.
  static Result<ModelSpeeds> of(const Scenario& scenario, std::optional<Bound> assumed = {});

  bool is_empty() const { return targets_.empty(); }
  // What the model is replaced by; itself where it is not.
  const GpuModel* target(const GpuModel* model) const;
  // How long a job takes that ran on nodes of these models; of several the longest. Counts it.
  TimeRatio use(const std::vector<const GpuModel*>& models, const std::string& team,
                const std::string& workload);
  std::vector<SpeedUse> uses() const;

 private:
  struct Ratios {
    TimeRatio compute, memory;
  };
  SpeedUse speed_of(const GpuModel* model, const BoundChange& rule) const;
  const BoundChange& rule_of(const std::string& team, const std::string& workload) const;

  std::map<const GpuModel*, const GpuModel*> targets_;
  std::map<const GpuModel*, Ratios> ratios_;
  std::vector<BoundChange> rules_;  // workloads first, then teams, then all others
  std::optional<Bound> assumed_;
  using UseKey = std::tuple<std::string, Bound, std::uint32_t>;  // model, bound, stated percent
  std::map<UseKey, SpeedUse> uses_;
};

struct ReplacedFacts {
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
};
// The month's nodes and GPUs with the scenario's models. kConfig: no node has a model that would be
// replaced; kUnsupported: its GPUs are cut into instances, or are parts of GPUs.
Result<ReplacedFacts> replace_models(const ClusterMonth& month, const Interval& period,
                                     const Scenario& scenario);

}  // namespace pennyweight::what_if
