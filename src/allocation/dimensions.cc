#include "allocation/dimensions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/label_match.h"
#include "core/check.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr std::string_view kDimensionPrefix = "dimension:";

// Keeps the first value.
void settle(Labels& dimensions, std::string_view dimension, std::string_view value) {
  if (value.empty() || dimensions.find(dimension)) return;
  const auto set = dimensions.set(dimension, value);
  CHECK(set.has_value(), "the policy checked the names, and values come from labels");
}

std::vector<const OwnerRule*> by_priority(std::span<const OwnerRule> rules) {
  std::vector<const OwnerRule*> ordered;
  ordered.reserve(rules.size());
  for (const OwnerRule& rule : rules) ordered.push_back(&rule);
  std::stable_sort(ordered.begin(), ordered.end(), [](const OwnerRule* a, const OwnerRule* b) {
    return a->priority > b->priority;
  });
  return ordered;
}

// "(shared)" and "(unowned)" are used by this program and the policy for cost without an owner. A
// label value of that form belongs to somebody, so it is marked to tell it apart.
std::string of_label(std::string_view value) {
  constexpr std::string_view kMark = "label:";
  if (!value.starts_with('(') || !value.ends_with(')')) return std::string(value);
  std::size_t end = std::min(value.size(), limits::kLabelValueBytesMax - kMark.size());
  const auto is_inside_character = [](char c) { return (c & '\xC0') == '\x80'; };
  while (end < value.size() && is_inside_character(value[end])) --end;
  return std::string(kMark).append(value.substr(0, end));
}

void settle_by_labels(Labels& dimensions, const Labels& labels,
                      std::span<const DimensionRule> rules) {
  const LabelLookup lookup = [&](std::string_view key) { return labels.find(key); };
  for (const DimensionRule& rule : rules) {
    for (const std::string& key : rule.labels) {
      settle(dimensions, rule.dimension, of_label(labels.find(key).value_or("")));
    }
    if (!rule.derive.empty() && !dimensions.find(rule.dimension)) {
      settle(dimensions, rule.dimension, derive(rule.derive, lookup).value_or(""));
    }
    settle(dimensions, rule.dimension, rule.fallback);
  }
}

}  // namespace

Labels resolve_dimensions(const ClusterId& cluster, const WorkloadId& workload,
                          const Labels& labels, const Policy& policy) {
  Labels dimensions;
  if (!policy.owners.empty()) {
    const LabelLookup lookup = [&](std::string_view key) -> std::optional<std::string_view> {
      if (key == "workload") return workload.text();
      if (key == "cluster") return cluster.text();
      if (!key.starts_with(kDimensionPrefix)) return labels.find(key);
      return dimensions.find(key.substr(kDimensionPrefix.size()));
    };
    for (const OwnerRule* rule : by_priority(policy.owners)) {
      if (!matches_all(rule->when, lookup)) continue;
      for (const auto& [dimension, value] : rule->set) settle(dimensions, dimension, value);
    }
  }
  settle_by_labels(dimensions, labels, policy.dimensions);
  return dimensions;
}

}  // namespace pennyweight
