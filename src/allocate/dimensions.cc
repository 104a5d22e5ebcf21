#include "allocate/dimensions.h"

#include "core/check.h"

namespace pennyweight {

Labels dimensions_of(const Labels& labels, std::span<const DimensionRule> rules) {
  Labels dimensions;
  for (const DimensionRule& rule : rules) {
    std::string_view value = rule.fallback;
    for (const std::string& key : rule.labels) {
      const auto found = labels.find(key);
      if (found && !found->empty()) {
        value = *found;
        break;
      }
    }
    if (value.empty()) continue;  // absent, not ""
    const auto set = dimensions.set(rule.dimension, value);
    CHECK(set.has_value(), "the policy checked the names, and values come from labels");
  }
  return dimensions;
}

}  // namespace pennyweight
