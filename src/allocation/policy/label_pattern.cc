#include "allocation/policy/label_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

// "$3" at `at`: 3.
std::optional<std::size_t> group_at(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || !ascii::is_digit(text[at + 1])) return std::nullopt;
  return static_cast<std::size_t>(text[at + 1] - '0');
}

constexpr std::size_t kGroupsMax = 9;  // $1 to $9

// What RE2 refuses because it can't be matched in linear time; empty: something else is wrong.
std::string_view unsupported_feature(std::string_view pattern, const re2::RE2& compiled) {
  for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"}) {
    if (pattern.contains(look)) return "look-ahead and look-behind";
  }
  const std::string& argument = compiled.error_arg();
  const bool is_reference = compiled.error_code() == re2::RE2::ErrorBadEscape &&
                            argument.size() == 2 && ascii::is_digit(argument[1]);
  return is_reference ? "back-references" : "";
}

}  // namespace

Result<LabelPattern> LabelPattern::parse(std::string_view text) {
  if (text.empty() || text.size() > kPatternBytesMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("a pattern has 1 to {} bytes, not {}", kPatternBytesMax, text.size()));
  }
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: a value need not be UTF-8
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(text), options);
  if (compiled->ok()) return LabelPattern(std::string(text), std::move(compiled));
  if (const auto feature = unsupported_feature(text, *compiled); !feature.empty()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a regular expression that can be used here: {} are not "
                            "supported, since matching them can take for ever; write it without",
                            text, feature));
  }
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a regular expression: {}", text, compiled->error()));
}

std::size_t LabelPattern::groups() const {
  return static_cast<std::size_t>(compiled_->NumberOfCapturingGroups());
}

bool LabelPattern::matches(std::string_view value) const {
  return compiled_->Match(value, 0, value.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

std::optional<std::string> LabelPattern::expand(std::string_view value,
                                                std::string_view into) const {
  // The whole match, then the groups; those that the pattern does not have stay empty.
  std::array<re2::StringPiece, 1 + kGroupsMax> caught;
  const auto wanted = static_cast<int>(std::min(1 + groups(), caught.size()));
  if (!compiled_->Match(value, 0, value.size(), re2::RE2::ANCHOR_BOTH, caught.data(), wanted)) {
    return std::nullopt;
  }
  std::string text;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i] != '$') {
      text += into[i];
      continue;
    }
    if (const auto group = group_at(into, i)) {
      text.append(caught[*group].data(), caught[*group].size());
    } else {
      text += '$';
    }
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
