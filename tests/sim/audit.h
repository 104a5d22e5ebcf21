// The auditor: holds what the engine says against the truth that it knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocate/allocate.h"
#include "faults.h"
#include "world.h"

namespace pennyweight::sim {

// What is wrong, in words; nothing where all is well.
using Finding = std::optional<std::string>;

// The facts of a world as an engine is given them: in any order, whole or in parts.
struct Facts {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  std::vector<Correction> corrections;
};

Facts facts_of(const World& world);
void shuffle(Facts& facts, std::uint64_t seed);

// By the cluster that runs are made for; what no line is charged for is in none.
using FactsByCluster = std::map<ClusterId, Facts>;
FactsByCluster by_cluster(const Facts& facts);

struct EngineOptions {
  unsigned threads = 1;
  std::optional<Interval> changed = {};
  Fault fault = Fault::kNone;
  std::uint64_t fault_seed = 0;
};

// Every cluster's allocation and that of the charges of none, one after the other.
struct Outcome {
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;
  std::vector<AllocationNote> notes;
  bool operator==(const Outcome&) const = default;
};

// An engine that breaks its own CHECKs is a finding like any other, so that its seed is told.
std::expected<Outcome, std::string> run_engine(const FactsByCluster& split, const Policy& policy,
                                               const EngineOptions& options);

// Everything that can be said of one world without a ledger.
Finding audit_engine(const World& world, Fault fault);

std::string describe(const Posting& posting);

}  // namespace pennyweight::sim
