#include "allocation/policy/label_match.h"

#include <algorithm>

namespace pennyweight {

bool meets_pattern(std::string_view text, std::string_view pattern) {
  if (!pattern.ends_with('*')) return text == pattern;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

bool matches(const LabelMatch& match, const LabelLookup& label) {
  const auto value = label(match.key);
  const auto is_listed = [&] {
    return std::any_of(match.values.begin(), match.values.end(),
                       [&](const std::string& pattern) { return meets_pattern(*value, pattern); });
  };
  switch (match.op) {
    case LabelMatch::Op::kExists:
      return value.has_value();
    case LabelMatch::Op::kIn:
      return value && is_listed();
    case LabelMatch::Op::kNotIn:
      return value && !is_listed();
    case LabelMatch::Op::kAbsent:
      return !value;
  }
  return false;
}

bool matches_all(std::span<const LabelMatch> all, const LabelLookup& label) {
  return std::all_of(all.begin(), all.end(),
                     [&](const LabelMatch& match) { return matches(match, label); });
}

bool matches_any(std::span<const LabelMatch> any, const LabelLookup& label) {
  return std::any_of(any.begin(), any.end(),
                     [&](const LabelMatch& match) { return matches(match, label); });
}

}  // namespace pennyweight
