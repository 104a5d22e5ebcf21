// LabelPattern: a regular expression that a whole label's value must match, and DeriveRule: a value
// made of what its groups caught.
//
// The expressions are RE2's (github.com/google/re2/wiki/Syntax), and '.' is a byte. Matching takes
// time that grows with the length of the value and never exponentially, since users write the
// values. For the same reason RE2 has neither back-references nor look-ahead.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/label_match.h"
#include "core/error.h"

namespace re2 {
class RE2;
}

namespace pennyweight {

inline constexpr std::size_t kPatternBytesMax = 512;

class LabelPattern {
 public:
  // An Error says what is wrong with the expression.
  static Result<LabelPattern> parse(std::string_view text);

  const std::string& text() const { return text_; }
  bool matches(std::string_view value) const;
  // `value` with $1 … $9 filled in by the groups ($0: all of it, $$: a dollar); nothing where the
  // pattern does not match.
  std::optional<std::string> expand(std::string_view value, std::string_view into) const;
  // How many groups it has.
  std::size_t groups() const;
  bool operator==(const LabelPattern& other) const { return text_ == other.text_; }

 private:
  LabelPattern(std::string text, std::shared_ptr<const re2::RE2> compiled)
      : text_(std::move(text)), compiled_(std::move(compiled)) {}
  std::string text_;
  std::shared_ptr<const re2::RE2> compiled_;  // shared, since policies are copied
};

// "The namespace is team-NAME, so the team is NAME."
struct DeriveRule {
  std::string label;
  LabelPattern pattern;
  std::string value;  // with $1 … $9
  bool operator==(const DeriveRule&) const = default;
};

// Nothing, or why the value asks for what the pattern does not have.
std::optional<std::string> refuse_template(const LabelPattern& pattern, std::string_view value);

// The value of the first rule whose label the workload has, whose pattern matches and whose result
// can be a label's value: neither empty nor too long, and UTF-8.
std::optional<std::string> derive(std::span<const DeriveRule> rules, const LabelLookup& label);

}  // namespace pennyweight
