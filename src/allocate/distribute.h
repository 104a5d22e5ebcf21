// distribute(): what becomes of idle, overhead and shared cost, and of corrections.
//
// It works on postings that are there already and never changes them: what moves is posted as
// transfers (ledger/posting.h), each of which adds up to zero in all four costs. So every bill line
// still adds up to itself, and what a rule moved can be seen, and be explained, by itself.
//
// A bucket is (kind, component, currency, local day, and the node or pool where the rule says so):
// all postings of the kind that name no workload, and for overhead those of system pods too. The
// first rule of Policy::spread that matches decides. A rule within nodes or pools spreads what
// names none over the whole cluster.
//
// Owners are the distinct sets of dimensions of the workloads that held something there (used or
// held_idle) on the day or in the month. What they are weighed by:
//   costs   effective cost, in the bucket's own currency: of GPUs (with what was not divided into
//           components), of CPUs, of the bucket's own component, or of everything. A sum below zero
//           counts as zero
//   times   GPU time, memory time: whatever the currency of the charge that carries them
//   named   the policy's own table of a dimension's values
// Whoever weighs nothing bears nothing, also under `even`: choose the measure that says who takes
// part. Where nobody weighs anything the bucket stays, and a note says so.
//   proportional  by weight
//   even          equally to each value of the dimension, within it by weight; without a dimension
//                 equally to each owner
//   fixed, named  by the stated parts to each value, within it by weight; a value of which nobody
//                 weighs anything is an owner by itself, {dimension: value}
// Every division is by largest remainder, ties to the first in the order of owners. Two orders of
// the input, or any number of threads before it, give the same transfers.
#pragma once

#include <chrono>
#include <optional>
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
  std::span<const Node> nodes = {};      // for their pools
  std::span<const Charge> charges = {};  // of the scope, for rules on shared lines and for x_PoolId
  std::span<const Correction> corrections = {};  // of any cluster and month
  // For the scope of no cluster: what owners of all clusters paid and held, as postings without
  // workloads but with owners, so that tax and support can be spread over everybody. They count
  // within the cluster, never within a node or pool; a scope of no cluster has neither.
  struct Elsewhere {
    Labels owner;
    std::chrono::sys_days day;
    Component component;
    Money effective;
    GpuTime gpu_time;
    MemoryTime memory_time;
    bool operator==(const Elsewhere&) const = default;
  };
  std::span<const Elsewhere> elsewhere = {};
  const Policy& policy;
};

struct Distribution {
  // In the order of a run's postings. The bucket's part has no workload and weight zero; an owner's
  // has the weight by which it took part among those of its group (see above), and zero in a
  // correction. Nobody's part is zero in all four costs.
  std::vector<Posting> transfers;
  std::vector<WorkloadDimensions> dimensions;  // of the owners in them, by workload
  // What a reader should know: buckets that stay though a rule would have them moved, corrections
  // that can't be made or that reach into another month. Sorted.
  std::vector<std::string> notes;
};

// A correction moves its amount, in all four costs, from owner to owner (kind used) or from and to
// the unallocated bucket, as component whole; no rule spreads that again, and nobody is weighed by
// it. It is spread over the local days of its time by their length; a run posts those that lie in
// its month, and the other months' runs the rest. One that names a dimension which neither the
// policy nor any workload has is not made.
// REQUIRES: postings and their dimensions are of one scope.
// ENSURES:  what is posted for each transfer, on each of its days, adds up to zero.
Distribution distribute(const DistributionInput& input);

// What the owners of a scope paid and held, for another scope's DistributionInput::elsewhere; by
// owner, day, component and currency. Corrections and transfers are not among `postings`.
std::vector<DistributionInput::Elsewhere> owners_of(std::span<const Posting> postings,
                                                    std::span<const WorkloadDimensions> dimensions);

// "(team=nlp,user=ann)": the workload by which a transfer names an owner. '%', ',', '=', '(', ')'
// and control characters in names and values are percent-encoded.
WorkloadId owner_workload(const Labels& owner);
// The way back; nothing for any text that owner_workload() doesn't write.
std::optional<Labels> owner_of(const WorkloadId& workload);
// For people: "team=nlp, user=ann", without dimensions that nothing settled ("(none)"); another
// workload is its name.
std::string owner_text(const WorkloadId& workload);

// The id that a transfer's postings carry for their charge.
FactId transfer_id(const ClusterId& cluster, const std::string& month, const std::string& what);

}  // namespace pennyweight
