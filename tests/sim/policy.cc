// The rules of a world: any that a policy can state.
#include <array>

#include "world.h"

namespace pennyweight::sim {
namespace {

// Spread rules for idle and shared cost: at most one for each kind, so that the rest is known.
void make_spread(Policy& policy, Random& random) {
  const auto below = [&](std::uint64_t bound) { return random.between(0, bound - 1); };
  const auto any_of = [&](const auto& all) { return all[below(all.size())]; };
  for (const PostingKind kind :
       {PostingKind::kUnallocated, PostingKind::kStranded, PostingKind::kUnavailable,
        PostingKind::kHeldIdle, PostingKind::kOverhead, PostingKind::kShared}) {
    if (below(2) == 0) continue;
    SpreadRule rule;
    rule.kind = kind;
    rule.how = static_cast<Spread>(below(4));
    rule.within = static_cast<SpreadWithin>(below(3));
    rule.over = static_cast<SpreadOver>(below(2));
    static const std::vector<SpreadMeasure> kMeasures = {
        SpreadMeasure::kGpuCost, SpreadMeasure::kCost, SpreadMeasure::kGpuTime,
        SpreadMeasure::kMemoryTime, SpreadMeasure::kCpuCost};
    rule.measure = any_of(kMeasures);
    if (rule.how == Spread::kEven || rule.how == Spread::kFixed) rule.dimension = "team";
    if (rule.how == Spread::kFixed) {
      rule.parts = {{"nlp", Decimal::from_units(2)},
                    {"sales, and (others)", Decimal::from_ticks(Decimal::kTicksPerUnit / 2)}};
    }
    policy.spread.push_back(rule);
  }
}

}  // namespace

Policy any_policy(Random& random) {
  const auto below = [&](std::uint64_t bound) { return random.between(0, bound - 1); };
  const auto any_of = [&](const auto& all) { return all[below(all.size())]; };
  static const std::vector<ShareWeights> kWeights = {{500, 500}, {600, 400}, {1000, 0},
                                                     {0, 1},     {800, 200}, {1, 2}};
  static const std::vector<Basis> kBases = {{Basis::Kind::kRequest, 500},
                                            {Basis::Kind::kUsage, 500},
                                            {Basis::Kind::kMax, 500},
                                            {Basis::Kind::kBlend, 500},
                                            {Basis::Kind::kBlend, 333}};
  Policy policy;
  policy.basis = any_of(kBases);
  policy.weights = any_of(kWeights);
  if (below(4) == 0) {
    policy.sharing.push_back({.cluster = below(2) == 0 ? "c0" : "",
                              .gpu_model = below(2) == 0 ? "A100-SXM4-40GB" : "",
                              .workload = {},
                              .weights = any_of(kWeights),
                              .basis = {}});
  }
  if (below(4) == 0) {
    std::optional<ShareWeights> weights;
    if (below(3) == 0) weights = any_of(kWeights);
    policy.sharing.push_back({.cluster = {},
                              .gpu_model = {},
                              .workload = {{"team", LabelMatch::Op::kIn, {"nlp", "inf*"}}},
                              .weights = weights,
                              .basis = any_of(kBases)});
  }
  policy.node_split = below(3) == 0 ? NodeSplit::kWholeNode : NodeSplit::kResidual;
  const auto parts = [](std::int64_t gpu, std::int64_t cpu, std::int64_t memory) {
    const auto tenths = [](std::int64_t n) {
      return Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} / 10 * n);
    };
    return std::array{tenths(gpu), tenths(cpu), tenths(memory)};
  };
  const auto ratio = parts(90, 9, 1), stated = parts(7, 2, 1);
  policy.node_splits = {{"sim.ratio", NodeSplit::kRatio, ratio[0], ratio[1], ratio[2]},
                        {"sim.explicit*", NodeSplit::kExplicit, stated[0], stated[1], stated[2]}};
  policy.overhead = {{"namespace", LabelMatch::Op::kIn, {"kube-system"}}};
  make_spread(policy, random);
  static const std::vector<std::uint64_t> kIntervals = {600'000, 1'800'000, 3'600'000};
  policy.usage.interval_ms = any_of(kIntervals);
  if (below(3) == 0) policy.usage.shift_ms = 90'000 - static_cast<std::int64_t>(below(180'000));
  static const std::vector<std::string> kZones = {"UTC", "UTC", "America/New_York", "Asia/Kolkata"};
  policy.time_zone = TimeZone::parse(any_of(kZones)).value();
  policy.dimensions = {{"team", {"team", "namespace"}, "(unowned)"}, {"user", {"user"}, ""}};
  return policy;
}

}  // namespace pennyweight::sim
