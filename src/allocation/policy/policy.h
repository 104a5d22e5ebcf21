// Policy: the rules by which a run allocates charges. Values only; config/ reads them from YAML.
//
// A policy is one versioned document. Its canonical text (text()) is YAML that reads back to the
// same rules. A run keeps that text, and its fingerprint is the version that a posting can be
// traced to. In every list of rules the first one that matches decides.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation/policy/label_match.h"
#include "allocation/policy/label_pattern.h"
#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/hash.h"
#include "ledger/posting.h"

namespace pennyweight {

inline constexpr int kPolicyFormat = 1;  // `version` of the YAML

// How much of a GPU's cost follows compute, and how much memory. REQUIRES: a positive sum.
struct ShareWeights {
  std::uint32_t compute = 500;
  std::uint32_t memory = 500;
  auto operator<=>(const ShareWeights&) const = default;
};

// What a holder is charged by, for compute and for memory, at every moment. Unobserved time counts
// by request.
struct Basis {
  enum class Kind {
    kRequest,  // the request
    kUsage,    // the observed usage
    kMax,      // the larger of both
    kBlend,    // request_permille thousandths of the request, the rest of the usage
  } kind = Kind::kMax;
  std::uint32_t request_permille = 500;  // kBlend only; 0…1000
  auto operator<=>(const Basis&) const = default;
};

// Other weights or another basis for a cluster, a GPU model (as core/gpu/gpu_model.h names it), or
// workloads with certain labels. An empty condition always holds. Weights and basis each come from
// the first matching rule that states them.
struct SharingRule {
  std::string cluster;
  std::string gpu_model;
  std::vector<LabelMatch> workload;  // all must match
  std::optional<ShareWeights> weights;
  std::optional<Basis> basis;
  bool operator==(const SharingRule&) const = default;
};

// How a node's price is split into GPU, CPU and memory.
enum class NodeSplit {
  kResidual,  // CPU and memory at market unit rates, the GPUs the rest (at least half of the price)
  kWholeNode,  // all of it to the GPUs
  kRatio,      // by units times a price each; AWS split cost allocation is 9 : 0.9 : 0.1
  kExplicit,   // stated parts of the price
};

struct NodeSplitRule {
  std::string instance_type;  // "p5.48xlarge", or "p5.*" with '*' at its end; empty: every type
  NodeSplit how = NodeSplit::kResidual;
  // kRatio: the weight of one GPU, one vCPU and one GiB. kExplicit: parts of the price that add up
  // to 1.
  Decimal gpu, cpu, memory;
  bool operator==(const NodeSplitRule&) const = default;
};

// How telemetry is read.
struct UsageRules {
  // Which value of a sample counts as compute: the first of these that is known.
  enum class Activity { kEngineActive, kSmActive, kGpuUtil };
  std::vector<Activity> activity = {Activity::kEngineActive, Activity::kSmActive,
                                    Activity::kGpuUtil};
  std::uint64_t interval_ms = 60'000;  // the nominal time between two samples of a device
  std::uint32_t hold_permille = 2500;  // a sample holds for at most this many intervals; then the
                                       // device is unobserved
  std::int64_t shift_ms = 0;           // added to the telemetry's times, to correct a skewed clock
  bool operator==(const UsageRules&) const = default;

  std::uint64_t hold_ms() const { return interval_ms * hold_permille / 1000; }
};

// What happens to a bucket (idle, overhead, shared cost).
enum class Spread {
  kKeep,          // it stays where it is
  kProportional,  // to owners by a measure, by default their cost of GPUs
  kEven,          // equally to each value of `dimension`, within it by the measure
  kFixed,         // stated parts to values of `dimension`, which need not have held anything
};
enum class SpreadWithin { kNode, kPool, kCluster };
enum class SpreadOver { kDay, kMonth };  // whose holders bear it: those of the day or of the month

// What owners are weighed by. kComponentCost: their cost of the same component (idle GPUs by GPUs,
// idle memory by memory); of all components for cost that has none.
enum class SpreadMeasure {
  kGpuCost,
  kCost,
  kGpuTime,
  kMemoryTime,
  kCpuCost,
  kComponentCost,
  kNamed,
};

struct FixedPart {
  std::string value;  // of the dimension
  Decimal part;       // any positive number: they are weights
  bool operator==(const FixedPart&) const = default;
};

struct SpreadRule {
  PostingKind kind = PostingKind::kUnallocated;  // kHeldIdle: only what no holder is charged for
  // For kShared only, to select charges; empty: any; '*' allowed at the end.
  std::string service_category;
  std::string service_name;
  std::string charge_category;
  Spread how = Spread::kKeep;
  SpreadWithin within = SpreadWithin::kCluster;
  SpreadOver over = SpreadOver::kDay;
  std::string dimension;  // kEven, kFixed, kNamed
  SpreadMeasure measure = SpreadMeasure::kGpuCost;
  std::string named;             // kNamed: the displayed name of the measure
  std::vector<FixedPart> parts;  // kFixed; kNamed: the measured amounts
  bool operator==(const SpreadRule&) const = default;

  bool needs_dimension() const { return how == Spread::kEven || needs_parts(); }
  bool needs_parts() const {
    return how == Spread::kFixed ||
           (how == Spread::kProportional && measure == SpreadMeasure::kNamed);
  }
};

// Sets dimensions of the workloads that it matches, whatever their labels say. Rules of higher
// priority come first, then earlier ones.
struct OwnerRule {
  std::int32_t priority = 0;
  std::vector<LabelMatch> when;  // all must match; keys are labels, "workload", "cluster", or
                                 // "dimension:team" for a value that an earlier rule set
  std::vector<std::pair<std::string, std::string>> set;  // dimension, value
  bool operator==(const OwnerRule&) const = default;
};

// Where a dimension's value comes from if no owner rule sets it: the first of `labels` that the
// workload has, else what the first of `derive` makes of a label.
struct DimensionRule {
  std::string dimension;            // "team"
  std::vector<std::string> labels;  // {"team", "account", "namespace"}
  std::string fallback;             // without any of them: "(unowned)"
  std::vector<DeriveRule> derive = {};
  bool operator==(const DimensionRule&) const = default;
};

struct Policy {
  std::string name;  // displayed: "2026 chargeback"; may be empty
  Basis basis;
  ShareWeights weights;
  std::vector<SharingRule> sharing;
  // Where no rule of `node_splits` matches. Only kResidual or kWholeNode, which need no numbers.
  NodeSplit node_split = NodeSplit::kResidual;
  std::vector<NodeSplitRule> node_splits;
  UsageRules usage;
  std::vector<LabelMatch> overhead;      // workloads that match any of these are overhead
  std::vector<SpreadRule> spread;        // the first match decides; a bucket without a match stays
  TimeZone time_zone = TimeZone::utc();  // postings are cut at its midnights
  std::vector<OwnerRule> owners;
  std::vector<DimensionRule> dimensions;

  // The canonical YAML, the same for the same rules. It states every key that has a meaning.
  std::string text() const;
  Hash128 version() const { return hash_of(text()); }
  bool operator==(const Policy&) const = default;
};

}  // namespace pennyweight
