// distribute(): spreads idle, overhead and shared cost over owners, and applies corrections.
//
// It reads postings and never changes them. What moves is posted as transfers (ledger/posting.h),
// each of which adds up to zero in all four costs. So every charge still adds up to itself, and
// what a rule moved can be seen and explained by itself.
//
// A bucket is (kind, component, currency, local day, and the node or pool where the rule says so):
// all postings of the kind without a workload, and for overhead those of system pods too. The first
// matching rule of Policy::spread decides. A rule within nodes or pools spreads cost without a node
// or pool over the whole cluster.
//
// Owners are the distinct sets of dimensions of the workloads that held something there (used or
// held_idle) on the day or in the month. They are weighed by
//   costs   effective cost in the bucket's own currency: of GPUs (with what was not divided into
//           components), of CPUs, of the bucket's own component, or of everything. A sum below zero
//           counts as zero
//   times   GPU time, memory time: whatever the currency of the charge that carries them
//   named   the policy's own table of a dimension's values
// An owner without weight bears nothing, also under `even`: the measure decides who takes part.
// Where no owner has weight the bucket stays, and a note says so.
//   proportional  by weight
//   even          equally to each value of the dimension, within it by weight; without a dimension
//                 equally to each owner
//   fixed, named  by the stated parts to each value, within it by weight; a value without any
//                 weighted owner is an owner by itself, {dimension: value}
// Every division is by largest remainder; ties go to the first in the order of owners. The order of
// the input and the number of threads before it do not change the transfers.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "ledger/correction.h"
#include "ledger/node.h"
#include "ledger/posting.h"
#include "ledger/run.h"

namespace pennyweight {

struct DistributionInput {
  ClusterId cluster;
  std::string month;                  // "2026-03"
  std::span<const Posting> postings;  // of the scope; no transfers among them
  std::span<const WorkloadDimensions> dimensions;
  std::span<const Node> nodes = {};      // for their pools
  std::span<const Charge> charges = {};  // of the scope, for rules on shared charges and for
                                         // x_PoolId
  std::span<const Correction> corrections = {};  // of any cluster and month
  // For the scope of no cluster: what owners of all clusters paid and held, as postings with owners
  // instead of workloads, so that tax and support can be spread over all of them. These costs count
  // within the cluster, never within a node or pool, which a scope of no cluster does not have.
  struct OtherScopeCost {
    Labels owner;
    std::chrono::sys_days day;
    Component component;
    Money effective;
    GpuTime gpu_time;
    MemoryTime memory_time;
    bool operator==(const OtherScopeCost&) const = default;
  };
  std::span<const OtherScopeCost> other_scopes = {};
  const Policy& policy;
};

struct Distribution {
  // In the order of a run's postings. The bucket's part has no workload and weight zero; an owner's
  // has its weight among those of its group (see above), and zero in a correction. No part is zero
  // in all four costs.
  std::vector<Posting> transfers;
  std::vector<WorkloadDimensions> dimensions;  // of the owners in transfers, by workload
  // What a reader should know: buckets that stay although a rule would move them, corrections that
  // can't be made or that reach into another month. Sorted.
  std::vector<std::string> notes;
};

// A correction moves its amount, in all four costs, from owner to owner (kind used) or from or to
// the unallocated bucket, as component whole. No rule spreads it again, and no owner is weighed by
// it. It is spread over the local days of its period by their length; a run posts those in its
// month, the other months' runs the rest. A correction of a dimension that neither the policy nor
// any workload has is not made. REQUIRES: postings and their dimensions are of one scope. ENSURES:
// the postings of each transfer add up to zero on each of its days.
Distribution distribute(const DistributionInput& input);

// The postings of the bucket that a transfer moved: those that its bucket's amount is the sum of.
// In the order of `postings`; none where `transfer` is the id of no spreading of the policy's rules
// (a correction has no bucket). Of the input it needs cluster, month, postings, nodes, charges and
// policy; postings of other buckets, also of other transfers, do no harm.
std::vector<Posting> bucket_of_transfer(const DistributionInput& input, const FactId& transfer);

// What the owners of a scope paid and held, for DistributionInput::other_scopes of another scope:
// by owner, day, component and currency. REQUIRES: no corrections or transfers among `postings`.
std::vector<DistributionInput::OtherScopeCost> sum_costs_by_owner(
    std::span<const Posting> postings, std::span<const WorkloadDimensions> dimensions);

// "(team=nlp,user=ann)": the workload by which a transfer names an owner. '%', ',', '=', '(', ')'
// and control characters in names and values are percent-encoded.
WorkloadId owner_workload(const Labels& owner);
// The inverse; absent for any text that owner_workload() does not write.
std::optional<Labels> parse_owner_workload(const WorkloadId& workload);
// For people: "team=nlp, user=ann", without dimensions whose value is "(none)"; for any other
// workload its name.
std::string owner_text(const WorkloadId& workload);

// The id that the postings of a transfer carry for their charge.
FactId transfer_id(const ClusterId& cluster, const std::string& month, const std::string& what);

}  // namespace pennyweight
