// Coverage: how much of the GPU spend reaches a value of a dimension (a team, a project, a user),
// and at which missing join or label the rest of it stops.
//
// GPU spend is effective cost of three kinds:
//   - what a run posted to component `gpu`: the part of a machine's price that is for its GPUs;
//   - what was posted `whole`, undivided, for a line of an instance type that has GPUs: usage,
//     credits and adjustments of machines that no inventory knows, and unused commitments for them;
//   - such lines that were never allocated.
// The rest of the ledger is told beside it, so that both together are the ledger's total.
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
  kNoNode,            // the line's resource is no node of the inventory
  kNeverAllocated,    // the line has no posting
  kUnusedCommitment,  // paid for, and nothing ran on it
  kUnallocated,       // nobody held the GPU
  kHeldIdle,          // held, and its holder's basis charges for less
  kStranded,          // a MIG layout leaves it unusable
  kUnavailable,       // in an outage
  kOverhead,          // system pods
  kFallback,          // the holder has none of the labels; the rule says "(none)"
  kNoLabel,           // the holder has none of the labels, and there is no fallback
};

// "line joins no node", as a heading for people.
std::string_view to_text(GapReason reason);
// What to do about it, in a sentence. `dimension` is the one that is not reached.
std::string advice(GapReason reason, std::string_view dimension);

// A dimension to look at, and the value by which its rule says that there is none; may be empty.
struct CoveredDimension {
  std::string name;
  std::string fallback;
};

// The group_by of the two queries that coverage takes, one of holders' postings and one of those
// without a workload.
std::vector<std::string> coverage_keys(const CoveredDimension& dimension);

struct CoverageInput {
  CoveredDimension dimension;
  std::span<const SummaryRow> held;    // of postings with a workload, by coverage_keys()
  std::span<const SummaryRow> bucket;  // of those without
  // Lines without any posting, by currency: of instance types with GPUs, and others.
  std::span<const Money> unposted_gpu = {};
  std::span<const Money> unposted_other = {};
  std::function<bool(std::string_view)> has_gpus;  // an instance type
};

struct GapPart {
  GapReason reason;
  Money effective;
  bool operator==(const GapPart&) const = default;
};

struct Coverage {
  std::string dimension;
  Money spend;               // all GPU spend
  Money reached;             // posted to holders with a value
  Money by_spreading;        // moved by transfers to owners with a value
  std::vector<GapPart> gap;  // the largest first, none of them zero

  // The rest of the ledger.
  Money host;                // CPU and memory of machines
  Money unknown_commitment;  // unused commitments that name no instance type with GPUs
  Money other;               // all else

  Money gap_total() const;  // of the parts
  Money ledger_total() const { return spend + host + unknown_commitment + other; }
};

// One for each currency, by code.
// ENSURES: spend == reached + by_spreading + gap_total().
std::vector<Coverage> coverage(const CoverageInput& input);

// Whether a line that was never allocated counts as GPU spend.
bool is_gpu_line(const Charge& charge, const std::function<bool(std::string_view)>& has_gpus);

}  // namespace pennyweight
