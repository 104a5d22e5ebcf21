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

class DimensionPlanner {
 public:
  DimensionPlanner(const Labels& labels,
                   const std::function<bool(std::string_view key)>& is_unknown)
      : labels_(labels), is_unknown_(is_unknown) {}

  void apply(const OwnerRule& rule) {
    bool hangs = false;
    for (const LabelMatch& match : rule.when) {
      if (is_unknown(match.key)) {
        hangs = true;
      } else if (!matches(match, lookup_)) {
        return;
      }
    }
    for (const auto& [dimension, value] : rule.set) {
      if (!value.empty()) put(dimension, value, hangs);
    }
  }

  void apply(const DimensionRule& rule) {
    for (const std::string& key : rule.labels) {
      if (!is_open(rule.dimension)) return;
      const std::string value = of_label(labels_.find(key).value_or(""));
      if (!value.empty() || is_unknown(key)) put(rule.dimension, value, value.empty());
    }
    if (!is_open(rule.dimension)) return;
    if (!rule.derive.empty()) {
      bool hangs = false;
      const auto value = derive(rule.derive, [&](std::string_view key) {
        hangs = hangs || is_unknown(key);
        return labels_.find(key);
      });
      if (hangs || (value && !value->empty())) put(rule.dimension, value.value_or(""), hangs);
    }
    if (!rule.fallback.empty()) put(rule.dimension, rule.fallback, false);
  }

  // What no rule has given a value is a dimension without one.
  void close(std::string_view dimension) {
    const bool is_noted = std::ranges::find(planned_.unset, dimension) != planned_.unset.end();
    if (is_open(dimension) && !is_noted) planned_.unset.emplace_back(dimension);
  }

  PlannedDimensions take() { return std::move(planned_); }

 private:
  bool is_open(std::string_view dimension) const {
    return !planned_.known.find(dimension) &&
           std::ranges::find(planned_.unknown, dimension) == planned_.unknown.end();
  }

  // The first value counts, also one that is not known.
  void put(const std::string& dimension, std::string_view value, bool hangs) {
    if (!is_open(dimension)) return;
    if (hangs) {
      planned_.unknown.push_back(dimension);
    } else {
      settle(planned_.known, dimension, value);
    }
  }

  bool is_unknown(std::string_view key) const {
    if (key == "workload" || key == "cluster") return true;
    if (!key.starts_with(kDimensionPrefix)) return !labels_.find(key) && is_unknown_(key);
    return std::ranges::find(planned_.unknown, key.substr(kDimensionPrefix.size())) !=
           planned_.unknown.end();
  }

  const Labels& labels_;
  const std::function<bool(std::string_view key)>& is_unknown_;
  PlannedDimensions planned_;
  const LabelLookup lookup_ = [this](std::string_view key) {
    return key.starts_with(kDimensionPrefix)
               ? planned_.known.find(key.substr(kDimensionPrefix.size()))
               : labels_.find(key);
  };
};

}  // namespace

PlannedDimensions resolve_planned_dimensions(
    const Labels& labels, const std::function<bool(std::string_view key)>& is_unknown,
    const Policy& policy) {
  DimensionPlanner planner(labels, is_unknown);
  for (const OwnerRule* rule : by_priority(policy.owners)) planner.apply(*rule);
  for (const DimensionRule& rule : policy.dimensions) planner.apply(rule);
  for (const DimensionRule& rule : policy.dimensions) planner.close(rule.dimension);
  for (const OwnerRule& rule : policy.owners) {
    for (const auto& [dimension, value] : rule.set) planner.close(dimension);
  }
  return planner.take();
}

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
