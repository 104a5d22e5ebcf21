// The auditor: compares the engine's results with the truth that it knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocation/allocate.h"
#include "faults.h"
#include "world.h"

namespace pennyweight::sim {

// A description of what is wrong; absent where all is well.
using Finding = std::optional<std::string>;

// The facts of a world as given to an engine: in any order, whole or in parts.
struct Facts {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  std::vector<Correction> corrections;
};

Facts world_facts(const World& world);
void shuffle(Facts& facts, std::uint64_t seed);

// By the cluster of the run; charges for no cluster are under the empty id.
using FactsByCluster = std::map<ClusterId, Facts>;
FactsByCluster by_cluster(const Facts& facts);

struct EngineOptions {
  unsigned threads = 1;
  std::optional<Interval> changed = {};
  Fault fault = Fault::kNone;
  std::uint64_t fault_seed = 0;
};

// The allocations of every cluster and of the charges of none, one after the other.
struct Outcome {
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;
  std::vector<AllocationNote> notes;
  bool operator==(const Outcome&) const = default;
};

// A failed CHECK of the engine is a finding like any other, so that its seed is reported.
std::expected<Outcome, std::string> run_engine(const FactsByCluster& split, const Policy& policy,
                                               const EngineOptions& options);

// All checks of one world that need no ledger.
Finding audit_engine(const World& world, Fault fault);

std::string describe(const Posting& posting);

}  // namespace pennyweight::sim
