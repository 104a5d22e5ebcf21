// LabelMatch: a condition on one label of a workload.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight {

struct LabelMatch {
  enum class Op {
    kExists,  // whatever its value
    kIn,      // one of `values`; a value may end in '*', which matches any rest
    kNotIn,   // has the label, with none of the values
    kAbsent,
  };
  std::string key;
  Op op = Op::kIn;
  std::vector<std::string> values;
  bool operator==(const LabelMatch&) const = default;
};

// Finds a label's value. The view must stay valid as long as the workload is being matched.
using LabelLookup = std::function<std::optional<std::string_view>(std::string_view key)>;

bool matches(const LabelMatch& match, const LabelLookup& label);
bool matches_all(std::span<const LabelMatch> matches, const LabelLookup& label);
bool matches_any(std::span<const LabelMatch> matches, const LabelLookup& label);

// "gpu-*" matches every text that begins with "gpu-"; a pattern without '*' matches only itself.
bool meets_pattern(std::string_view text, std::string_view pattern);

}  // namespace pennyweight
