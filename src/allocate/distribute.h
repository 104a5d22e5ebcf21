// distribute(): what becomes of idle, overhead and shared cost, and of corrections.
//
// It works on postings that are there already and never changes them: what moves is posted as
// transfers (ledger/posting.h), each of which adds up to zero in all four costs. So every bill line
// still adds up to itself, and what a rule moved can be seen, and be explained, by itself.
//
// A bucket is (kind, component, currency, local day, and the node or pool where the rule says so).
// Owners are the distinct sets of dimensions; the workload of an owner's posting is its text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ledger/correction.h"
#include "ledger/node.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "policy/policy.h"

namespace pennyweight {

struct DistributionInput {
  ClusterId cluster;
  std::string month;                  // "2026-03"
  std::span<const Posting> postings;  // of the scope, none of them a transfer
  std::span<const WorkloadDimensions> dimensions;
  std::span<const Node> nodes;      // for their pools
  std::span<const Charge> charges;  // of the scope, for the rules on shared lines
  std::span<const Correction> corrections;
  // For the scope of no cluster: what owners of all clusters paid and held, as postings without
  // workloads but with owners, so that tax and support can be spread over everybody.
  struct Elsewhere {
    Labels owner;
    std::chrono::sys_days day;
    Component component;
    Money effective;
    GpuTime gpu_time;
    MemoryTime memory_time;
  };
  std::span<const Elsewhere> elsewhere;
  const Policy& policy;
};

struct Distribution {
  std::vector<Posting> transfers;              // add up to zero, by id
  std::vector<WorkloadDimensions> dimensions;  // of the owners in them, by workload
  std::vector<std::string> notes;              // corrections outside the month, fixed parts of 0 …
};

Distribution distribute(const DistributionInput& input);

// What the owners of a scope paid and held, for another scope's DistributionInput::elsewhere.
std::vector<DistributionInput::Elsewhere> owners_of(std::span<const Posting> postings,
                                                    std::span<const WorkloadDimensions> dimensions);

// "(team=nlp,user=ann)": the workload by which a transfer names an owner.
WorkloadId owner_workload(const Labels& owner);

// The id that a transfer's postings carry for their charge.
FactId transfer_id(const ClusterId& cluster, const std::string& month, const std::string& what);

}  // namespace pennyweight
