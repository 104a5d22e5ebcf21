// Policy: the rules by which a run divides charges. Values only; config/ reads it from YAML.
//
// A policy is one versioned document. Its canonical text (text()) is YAML that reads back to the
// same rules; a run keeps it, and its fingerprint is the version that a posting can be traced to.
// Every list of rules is tried in order, and the first that matches decides.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/billing_period.h"
#include "core/decimal.h"
#include "core/hash.h"
#include "ledger/posting.h"
#include "policy/label_match.h"
#include "policy/label_pattern.h"

namespace pennyweight {

inline constexpr int kPolicyFormat = 1;  // `version` of the YAML

// How much of a GPU's cost follows compute share, how much memory share. REQUIRES: a positive sum.
struct ShareWeights {
  std::uint32_t compute = 500;
  std::uint32_t memory = 500;
  auto operator<=>(const ShareWeights&) const = default;
};

// What a holder is charged by, on each of compute and memory, at every moment. Moments for which
// nothing was seen count by request.
struct Basis {
  enum class Kind {
    kRequest,  // what was asked for
    kUsage,    // what was seen
    kMax,      // the larger of both
    kBlend,    // request_permille thousandths of the request, the rest of the usage
  } kind = Kind::kMax;
  std::uint32_t request_permille = 500;  // kBlend only; 0…1000
  auto operator<=>(const Basis&) const = default;
};

// Other weights or another basis for some: of a cluster, a GPU model (as fleet/gpu_model.h names
// it), or workloads with certain labels; an empty condition is met by all. Basis and weights are
// taken each from the first rule that matches and states them.
struct SharingRule {
  std::string cluster;
  std::string gpu_model;
  std::vector<LabelMatch> workload;  // all of them
  std::optional<ShareWeights> weights;
  std::optional<Basis> basis;
  bool operator==(const SharingRule&) const = default;
};

// How a node's price is divided into GPU, CPU and memory.
enum class NodeSplit {
  kResidual,  // CPU and memory at market unit rates, the GPUs the rest (at least half of the price)
  kWholeNode,  // all of it to the GPUs
  kRatio,      // by units times a price each: AWS split cost allocation is 9 : 0.9 : 0.1
  kExplicit,   // stated parts of the price
};

struct NodeSplitRule {
  std::string instance_type;  // "p5.48xlarge", or with '*' at its end "p5.*"; empty: every type
  NodeSplit how = NodeSplit::kResidual;
  // kRatio: of one GPU, one vCPU and one GiB. kExplicit: of the price, adding up to 1.
  Decimal gpu, cpu, memory;
  bool operator==(const NodeSplitRule&) const = default;
};

// How telemetry is read.
struct UsageRules {
  // What is taken for compute, in this order, where it is known of a sample.
  enum class Activity { kEngineActive, kSmActive, kGpuUtil };
  std::vector<Activity> activity = {Activity::kEngineActive, Activity::kSmActive,
                                    Activity::kGpuUtil};
  std::uint64_t interval_ms = 60'000;  // nominal, between two samples of a device
  std::uint32_t hold_permille = 2500;  // a sample holds so many intervals at most; then: unobserved
  std::int64_t shift_ms = 0;           // added to the telemetry's times, against a skewed clock
  bool operator==(const UsageRules&) const = default;

  std::uint64_t hold_ms() const { return interval_ms * hold_permille / 1000; }
};

// What becomes of a bucket (idle, overhead, shared cost).
enum class Spread {
  kKeep,          // it stays where it is
  kProportional,  // to owners by a measure, by default what they pay for GPUs
  kEven,          // the same to each value of `dimension`, and within it by what they pay
  kFixed,         // stated parts to values of `dimension`; they need not have held anything
};
enum class SpreadWithin { kNode, kPool, kCluster };
enum class SpreadOver { kDay, kMonth };  // whose holders bear it

// What owners are weighed by. kComponentCost: what they pay for the same part of the machine, idle
// GPUs by GPUs, idle memory by memory; what has no parts by all that they pay.
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
  PostingKind kind = PostingKind::kUnallocated;  // kHeldIdle: only what no holder was charged
  // For kShared only, each empty for any, '*' allowed at the end: which lines.
  std::string service_category;
  std::string service_name;
  std::string charge_category;
  Spread how = Spread::kKeep;
  SpreadWithin within = SpreadWithin::kCluster;
  SpreadOver over = SpreadOver::kDay;
  std::string dimension;  // kEven, kFixed, kNamed
  SpreadMeasure measure = SpreadMeasure::kGpuCost;
  std::string named;             // kNamed: the name of the measure, for people
  std::vector<FixedPart> parts;  // kFixed; kNamed: the measured amounts
  bool operator==(const SpreadRule&) const = default;

  bool needs_dimension() const { return how == Spread::kEven || needs_parts(); }
  bool needs_parts() const {
    return how == Spread::kFixed ||
           (how == Spread::kProportional && measure == SpreadMeasure::kNamed);
  }
};

// Sets a dimension of the workloads that it matches, whatever their labels say. Rules of a higher
// priority come first; of equal ones the earlier.
struct OwnerRule {
  std::int32_t priority = 0;
  std::vector<LabelMatch> when;  // all of them; keys may be labels, "workload", "cluster", or
                                 // "dimension:team" for one that was settled by then
  std::vector<std::pair<std::string, std::string>> set;  // dimension, value
  bool operator==(const OwnerRule&) const = default;
};

// Where a dimension's value comes from where no rule sets it: the first label that a workload has,
// else what the first of `derive` makes of one.
struct DimensionRule {
  std::string dimension;            // "team"
  std::vector<std::string> labels;  // {"team", "account", "namespace"}
  std::string fallback;             // when it has none of them: "(unowned)"
  std::vector<DeriveRule> derive = {};
  bool operator==(const DimensionRule&) const = default;
};

struct Policy {
  std::string name;  // for people: "2026 chargeback"; may be empty
  Basis basis;
  ShareWeights weights;
  std::vector<SharingRule> sharing;
  // Where no rule of `node_splits` matches: kResidual or kWholeNode, which need no numbers.
  NodeSplit node_split = NodeSplit::kResidual;
  std::vector<NodeSplitRule> node_splits;
  UsageRules usage;
  std::vector<LabelMatch> overhead;      // workloads that meet any of these are overhead
  std::vector<SpreadRule> spread;        // the first that matches; what none matches stays
  TimeZone time_zone = TimeZone::utc();  // whose days postings are cut by
  std::vector<OwnerRule> owners;
  std::vector<DimensionRule> dimensions;

  // The canonical YAML, the same for the same rules; every key that means something is stated.
  std::string text() const;
  Hash128 version() const { return hash_of(text()); }
  bool operator==(const Policy&) const = default;
};

}  // namespace pennyweight
