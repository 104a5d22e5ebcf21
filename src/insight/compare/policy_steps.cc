#include "insight/compare/policy_steps.h"

namespace pennyweight {
namespace {

struct Rule {
  std::string_view reason;
  bool (*differs)(const Policy& a, const Policy& b);
  void (*take)(Policy& policy, const Policy& to);
};

constexpr Rule kRules[] = {
    {"basis",
     [](const Policy& a, const Policy& b) { return a.basis != b.basis || a.usage != b.usage; },
     [](Policy& policy, const Policy& to) {
       policy.basis = to.basis;
       policy.usage = to.usage;
     }},
    {"weights", [](const Policy& a, const Policy& b) { return a.weights != b.weights; },
     [](Policy& policy, const Policy& to) { policy.weights = to.weights; }},
    {"rules for some", [](const Policy& a, const Policy& b) { return a.sharing != b.sharing; },
     [](Policy& policy, const Policy& to) { policy.sharing = to.sharing; }},
    {"node split",
     [](const Policy& a, const Policy& b) {
       return a.node_split != b.node_split || a.node_splits != b.node_splits;
     },
     [](Policy& policy, const Policy& to) {
       policy.node_split = to.node_split;
       policy.node_splits = to.node_splits;
     }},
    {"overhead", [](const Policy& a, const Policy& b) { return a.overhead != b.overhead; },
     [](Policy& policy, const Policy& to) { policy.overhead = to.overhead; }},
    {"spread", [](const Policy& a, const Policy& b) { return a.spread != b.spread; },
     [](Policy& policy, const Policy& to) { policy.spread = to.spread; }},
    {"owners",
     [](const Policy& a, const Policy& b) {
       return a.owners != b.owners || a.dimensions != b.dimensions;
     },
     [](Policy& policy, const Policy& to) {
       policy.owners = to.owners;
       policy.dimensions = to.dimensions;
     }},
    {"days", [](const Policy& a, const Policy& b) { return a.time_zone != b.time_zone; },
     [](Policy& policy, const Policy& to) { policy.time_zone = to.time_zone; }},
};

// A weight in millionths, as a ratio of the policy.
Decimal ratio(std::uint64_t millionths) {
  return Decimal::from_ticks(Int128{millionths} * (Decimal::kTicksPerUnit / 1'000'000));
}

NodeSplitRule by_ratio(const RatioWeights& weights) {
  return {.instance_type = "",
          .how = NodeSplit::kRatio,
          .gpu = ratio(weights.gpu),
          .cpu = ratio(weights.cpu),
          .memory = ratio(weights.gib)};
}

}  // namespace

std::vector<PolicyStep> policy_steps(const Policy& from, const Policy& to) {
  std::vector<PolicyStep> steps;
  Policy now = from;
  for (const Rule& rule : kRules) {
    if (!rule.differs(now, to)) continue;
    rule.take(now, to);
    steps.push_back({rule.reason, now});
  }
  return steps;
}

Policy nearest_policy(Preset preset, const Policy& from) {
  Policy policy = from;
  policy.basis.kind = Basis::Kind::kRequest;
  policy.spread.clear();
  // Of the sharing rules only the weights stay: no product charges by usage.
  for (SharingRule& rule : policy.sharing) rule.basis.reset();
  switch (preset) {
    case Preset::kOpenCost:
      policy.node_splits = {by_ratio(kOpenCostPrices)};
      break;
    case Preset::kAwsScad:
      policy.node_splits = {by_ratio(kScadAccelerated)};
      break;
    case Preset::kKoku:
      policy.node_splits.clear();
      policy.node_split = NodeSplit::kWholeNode;
      break;
  }
  return policy;
}

}  // namespace pennyweight
