// Policy::text(): the canonical YAML. config/policy_reader.h reads it back.
//
// It states every key that has a meaning for a rule, in one order. So equal rules have equal bytes,
// and a later program with other defaults can't change what an old run says it did.
#include "allocation/policy/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/policy/words.h"
#include "allocation/policy/yaml_text.h"
#include "core/check.h"

namespace pennyweight {
namespace {

// An empty condition always holds, and is written as "*".
std::string pattern(const std::string& text) { return yaml_text(text.empty() ? "*" : text); }

std::string flow(const Basis& basis) {
  if (basis.kind != Basis::Kind::kBlend) return std::string(words::text(basis.kind));
  return fmt::format("{{blend: {}}}", permille_text(basis.request_permille));
}

std::string flow(const ShareWeights& weights) {
  return fmt::format("{{compute: {}, memory: {}}}", weights.compute, weights.memory);
}

std::string flow(const LabelMatch& match) {
  const std::string label = "{label: " + yaml_text(match.key);
  switch (match.op) {
    case LabelMatch::Op::kExists:
      return label + ", exists: true}";
    case LabelMatch::Op::kAbsent:
      return label + ", exists: false}";
    case LabelMatch::Op::kIn:
      return label + ", in: " + yaml_list(match.values) + "}";
    case LabelMatch::Op::kNotIn:
      return label + ", not_in: " + yaml_list(match.values) + "}";
  }
  return "";
}

std::string flow(const NodeSplitRule& rule) {
  switch (rule.how) {
    case NodeSplit::kResidual:
    case NodeSplit::kWholeNode:
      return std::string(words::text(rule.how));
    case NodeSplit::kRatio:
      return fmt::format("{{ratio: {{gpu: {}, vcpu: {}, gib: {}}}}}", to_text(rule.gpu),
                         to_text(rule.cpu), to_text(rule.memory));
    case NodeSplit::kExplicit:
      return fmt::format("{{explicit: {{gpu: {}, cpu: {}, memory: {}}}}}", to_text(rule.gpu),
                         to_text(rule.cpu), to_text(rule.memory));
  }
  return "";
}

// "key:" and a line for each item, or "key: []".
template <class Item, class Write>
std::string list(std::string_view indent, std::string_view key, const std::vector<Item>& items,
                 const Write& write) {
  if (items.empty()) return fmt::format("{}{}: []\n", indent, key);
  std::string text = fmt::format("{}{}:\n", indent, key);
  for (const Item& item : items) text += fmt::format("{}  - {}\n", indent, write(item));
  return text;
}

std::string conditions(std::string_view key, const std::vector<LabelMatch>& matches) {
  return list("    ", key, matches, [](const LabelMatch& match) { return flow(match); });
}

std::string block(const SharingRule& rule) {
  std::string text = fmt::format("  - cluster: {}\n    gpu_model: {}\n", pattern(rule.cluster),
                                 pattern(rule.gpu_model));
  text += conditions("workload", rule.workload);
  // What a rule does not state is left to later rules.
  if (rule.basis) text += fmt::format("    basis: {}\n", flow(*rule.basis));
  if (rule.weights) text += fmt::format("    weights: {}\n", flow(*rule.weights));
  return text;
}

std::string measure(const SpreadRule& rule) {
  if (rule.measure != SpreadMeasure::kNamed) return std::string(words::text(rule.measure));
  return fmt::format("{{named: {}}}", yaml_text(rule.named));
}

std::string block(const SpreadRule& rule) {
  std::string text = fmt::format("  - kind: {}\n", to_text(rule.kind));
  if (rule.kind == PostingKind::kShared) {
    text += fmt::format("    service_category: {}\n", pattern(rule.service_category));
    text += fmt::format("    service_name: {}\n", pattern(rule.service_name));
    text += fmt::format("    charge_category: {}\n", pattern(rule.charge_category));
  }
  text += fmt::format("    how: {}\n", words::text(rule.how));
  if (rule.how == Spread::kKeep) return text;
  text += fmt::format("    within: {}\n    over: {}\n    measure: {}\n", words::text(rule.within),
                      words::text(rule.over), measure(rule));
  if (rule.needs_dimension()) {
    text += fmt::format("    dimension: {}\n", yaml_text(rule.dimension));
  }
  if (rule.needs_parts()) {
    text += "    parts:\n";
    for (const FixedPart& part : rule.parts) {
      text += fmt::format("      {}: {}\n", yaml_text(part.value), to_text(part.part));
    }
  }
  return text;
}

std::string block(const OwnerRule& rule) {
  std::string text = fmt::format("  - priority: {}\n", rule.priority);
  text += conditions("when", rule.when);
  text += "    set:\n";
  for (const auto& [dimension, value] : rule.set) {
    text += fmt::format("      {}: {}\n", yaml_text(dimension), yaml_text(value));
  }
  return text;
}

template <class Rule>
std::string blocks(std::string_view key, const std::vector<Rule>& rules) {
  if (rules.empty()) return fmt::format("{}: []\n", key);
  std::string text = fmt::format("{}:\n", key);
  for (const Rule& rule : rules) text += block(rule);
  return text;
}

std::string usage_block(const UsageRules& usage) {
  std::vector<std::string> activity;
  for (const UsageRules::Activity each : usage.activity) activity.emplace_back(words::text(each));
  return fmt::format("usage:\n  activity: {}\n  interval: {}\n  hold: {}\n  shift: {}\n",
                     yaml_list(activity),
                     duration_text(static_cast<std::int64_t>(usage.interval_ms)),
                     permille_text(usage.hold_permille), duration_text(usage.shift_ms));
}

// Sorted by name: their order decides nothing, so it must not change the text.
std::string dimensions_block(std::vector<DimensionRule> rules) {
  std::sort(rules.begin(), rules.end(), [](const DimensionRule& a, const DimensionRule& b) {
    return a.dimension < b.dimension;
  });
  if (rules.empty()) return "dimensions: {}\n";
  std::string text = "dimensions:\n";
  for (const DimensionRule& rule : rules) {
    // Left out where empty, so that older policies keep their fingerprint.
    std::string derive;
    for (const DeriveRule& each : rule.derive) {
      derive +=
          fmt::format("{}{{label: {}, matches: {}, value: {}}}", derive.empty() ? "" : ", ",
                      yaml_text(each.label), yaml_text(each.pattern.text()), yaml_text(each.value));
    }
    if (!derive.empty()) derive = fmt::format(", derive: [{}]", derive);
    text += fmt::format("  {}: {{from: {}{}, fallback: {}}}\n", yaml_text(rule.dimension),
                        yaml_list(rule.labels), derive, yaml_text(rule.fallback));
  }
  return text;
}

}  // namespace

std::string Policy::text() const {
  CHECK(node_split == NodeSplit::kResidual || node_split == NodeSplit::kWholeNode,
        "ratios and explicit parts have numbers, so they stand in node_splits");
  std::string text = fmt::format("version: {}\nname: {}\nbasis: {}\nweights: {}\n", kPolicyFormat,
                                 yaml_text(name), flow(basis), flow(weights));
  text += blocks("sharing", sharing);
  text += fmt::format("node_split: {}\n", words::text(node_split));
  text += list("", "node_splits", node_splits, [](const NodeSplitRule& rule) {
    return fmt::format("{{instance_type: {}, split: {}}}", pattern(rule.instance_type), flow(rule));
  });
  text += usage_block(usage);
  text += list("", "overhead", overhead, [](const LabelMatch& match) { return flow(match); });
  text += blocks("spread", spread);
  text += blocks("owners", owners);
  text += dimensions_block(dimensions);
  text += fmt::format("time_zone: {}\n", yaml_text(time_zone.name()));
  return text;
}

}  // namespace pennyweight
