// Cost coverage: how much of the GPU spend reaches a value of a dimension (a team, project, user),
// and which missing join or label stops the rest.
//
// GPU spend is effective cost of three kinds:
//   - postings to component `gpu`: the part of a machine's price that is for its GPUs;
//   - undivided postings (component `whole`) of charges for an instance type with GPUs: usage,
//     credits and adjustments of machines that no inventory lists, and unused commitments for them;
//   - charges of such instance types that were never allocated.
// The rest of the ledger is reported separately, so that both add up to the ledger's total.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/charge.h"
#include "ledger/summary.h"

namespace pennyweight {

enum class GapReason {
  kNoNode,            // the charge's resource is not a node of the inventory
  kNeverAllocated,    // the charge has no posting
  kUnusedCommitment,  // paid for, and nothing ran on it
  kUnallocated,       // no workload held the GPU
  kHeldIdle,          // held, but charged for less under the holder's basis
  kStranded,          // unusable beside a MIG layout
  kUnavailable,       // in an outage
  kOverhead,          // system pods
  kFallback,          // the holder has none of the labels; the rule's fallback applies
  kNoLabel,           // the holder has none of the labels, and the rule has no fallback
};

// "line joins no node", as a heading for people.
std::string_view to_text(GapReason reason);
// A sentence that says what to do about it. `dimension` is the one that is not reached.
std::string advice(GapReason reason, std::string_view dimension);

// A dimension, and the fallback value that its rule gives for "none"; may be empty.
struct CoveredDimension {
  std::string name;
  std::string fallback;
};

// The group_by of the two queries whose rows coverage() takes: one of postings with a workload, one
// of postings without.
std::vector<std::string> coverage_group_by(const CoveredDimension& dimension);

struct CoverageInput {
  CoveredDimension dimension;
  std::span<const SummaryRow> held;    // of postings with a workload, by coverage_group_by()
  std::span<const SummaryRow> bucket;  // of those without
  // Charges without any posting, summed by currency: of instance types with GPUs, and others.
  std::span<const Money> unposted_gpu = {};
  std::span<const Money> unposted_other = {};
  std::function<bool(std::string_view)> has_gpus;  // whether an instance type has GPUs
};

struct GapAmount {
  GapReason reason;
  Money effective;
  bool operator==(const GapAmount&) const = default;
};

struct Coverage {
  std::string dimension;
  Money spend;                 // all GPU spend
  Money reached;               // posted to holders with a value
  Money by_spreading;          // moved to owners with a value by transfers
  std::vector<GapAmount> gap;  // the largest first, none of them zero

  // The rest of the ledger.
  Money host;                // CPU and memory of machines
  Money unknown_commitment;  // unused commitments that name no instance type with GPUs
  Money other;

  Money gap_total() const;
  Money ledger_total() const { return spend + host + unknown_commitment + other; }
};

// One per currency, by code.
// ENSURES: spend == reached + by_spreading + gap_total().
std::vector<Coverage> coverage(const CoverageInput& input);

// Whether a charge that was never allocated counts as GPU spend.
bool is_gpu_charge(const Charge& charge, const std::function<bool(std::string_view)>& has_gpus);

}  // namespace pennyweight
