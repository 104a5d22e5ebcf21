#include "config/policy_text.h"

#include <fmt/format.h>

#include <charconv>

namespace pennyweight {
namespace {

// What stands between two marks of a line; nothing where they are not there.
std::optional<std::string_view> between(std::string_view line, std::string_view left,
                                        std::string_view right) {
  const std::size_t begin = line.find(left);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin + left.size());
  const std::size_t end = right.empty() ? line.size() : line.find(right);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

std::uint32_t number(std::optional<std::string_view> text) {
  std::uint32_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

DimensionRule rule_of(std::string_view line) {
  DimensionRule rule{std::string(between(line, "  ", ": {from: [").value_or("")),
                     {},
                     std::string(between(line, "], fallback: ", "}").value_or(""))};
  std::string_view labels = between(line, "from: [", "], fallback").value_or("");
  while (!labels.empty()) {
    const std::size_t comma = labels.find(", ");
    rule.labels.emplace_back(labels.substr(0, comma));
    labels.remove_prefix(comma == std::string_view::npos ? labels.size() : comma + 2);
  }
  return rule;
}

}  // namespace

Result<Policy> parse_policy_text(std::string_view text) {
  Policy policy;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.starts_with("weights: ")) {
      policy.weights.compute = number(between(line, "compute: ", ","));
      policy.weights.memory = number(between(line, "memory: ", "}"));
    } else if (line.starts_with("node_split: ")) {
      policy.node_split =
          line.ends_with("whole_node") ? NodeSplit::kWholeNode : NodeSplit::kResidual;
    } else if (line.starts_with("time_zone: ")) {
      const auto zone = TimeZone::parse(between(line, "time_zone: ", "").value_or(""));
      if (!zone) return std::unexpected(zone.error());
      policy.time_zone = *zone;
    } else if (line.starts_with("  ")) {
      policy.dimensions.push_back(rule_of(line));
    }
  }
  // A later program may write policies that this one does not know: then there is no explaining.
  if (policy.text() != text) {
    return fail(ErrorCode::kUnsupported,
                "the run's policy was written by another version of pennyweight; allocate again");
  }
  return policy;
}

}  // namespace pennyweight
