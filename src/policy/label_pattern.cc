#include "policy/label_pattern.h"

#include <fmt/format.h>

#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

// "$3" at `at`: 3.
std::optional<std::size_t> group_at(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at + 1] < '0' || text[at + 1] > '9') return std::nullopt;
  return static_cast<std::size_t>(text[at + 1] - '0');
}

}  // namespace

Result<LabelPattern> LabelPattern::parse(std::string_view text) {
  if (text.empty() || text.size() > kPatternBytesMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("a pattern has 1 to {} bytes, not {}", kPatternBytesMax, text.size()));
  }
  try {
    // libstdc++'s __polynomial runs all alternatives side by side instead of trying them one after
    // the other; it refuses back-references.
    return LabelPattern(std::string(text),
                        std::make_shared<const std::regex>(
                            text.begin(), text.end(),
                            std::regex_constants::ECMAScript | std::regex_constants::__polynomial));
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a regular expression: {}", text, error.what()));
  }
}

bool LabelPattern::matches(std::string_view value) const {
  return std::regex_match(value.begin(), value.end(), *regex_);
}

std::optional<std::string> LabelPattern::expand(std::string_view value,
                                                std::string_view into) const {
  std::match_results<std::string_view::const_iterator> groups;
  if (!std::regex_match(value.begin(), value.end(), groups, *regex_)) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i] != '$') {
      text += into[i];
      continue;
    }
    if (const auto group = group_at(into, i))
      text += groups[*group].str();
    else
      text += '$';
    ++i;
  }
  return text;
}

std::optional<std::string> refuse_template(const LabelPattern& pattern, std::string_view value) {
  if (value.empty()) return "the value is empty";
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '$') continue;
    const auto group = group_at(value, i);
    const bool is_dollar = i + 1 < value.size() && value[i + 1] == '$';
    if (!group && !is_dollar) return "a $ stands before a digit, or before another $ for itself";
    if (group && *group > pattern.groups()) {
      return fmt::format("${} asks for a group that '{}' does not have: it has {}", *group,
                         pattern.text(), pattern.groups());
    }
    ++i;
  }
  return std::nullopt;
}

std::optional<std::string> derive(std::span<const DeriveRule> rules, const LabelLookup& label) {
  for (const DeriveRule& rule : rules) {
    const auto value = label(rule.label);
    if (!value) continue;
    auto made = rule.pattern.expand(*value, rule.value);
    // A pattern sees bytes: it can cut a letter in two, or repeat a value beyond a label's length.
    if (made && !made->empty() && made->size() <= limits::kLabelValueBytesMax &&
        is_plain_text(*made)) {
      return made;
    }
  }
  return std::nullopt;
}

}  // namespace pennyweight
