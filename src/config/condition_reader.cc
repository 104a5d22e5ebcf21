#include "config/condition_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

// Warns of a '*' that is not at the end: it is an ordinary character there, which is hardly meant.
void warn_of_inner_star(YamlReader& yaml, const YamlNode& node, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos || star + 1 == pattern.size()) return;
  yaml.warn(node, fmt::format("a '*' matches anything only at the end of a name; in '{}' there is "
                              "one elsewhere, an ordinary character",
                              printable_text(pattern, 80)));
}

std::vector<std::string> values(YamlReader& yaml, const YamlNode& node, const std::string& what) {
  const std::size_t before = yaml.error_count();
  std::vector<std::string> list = yaml.texts(node, what, limits::kPolicyValuesMax);
  if (list.empty() && yaml.error_count() == before) {
    yaml.refuse(node, what + " is empty, so nothing can match it");
  }
  for (const YamlNode& item : node.items) warn_of_inner_star(yaml, item, item.scalar);
  return list;
}

std::optional<LabelMatch> condition(YamlReader& yaml, const YamlNode& node,
                                    const std::string& what) {
  if (!yaml.is(node, YamlNode::Kind::kMapping, "an item of " + what)) return std::nullopt;
  LabelMatch match;
  int forms = 0;
  const std::size_t before = yaml.error_count();
  yaml.mapping(node, what + "[]",
               {{"label",
                 [&](const YamlNode& at) {
                   match.key = yaml.text(at, what + "[].label").value_or("");
                   if (match.key.size() > limits::kLabelKeyBytesMax) {
                     yaml.refuse(at, fmt::format("the name of a label has at most {} bytes",
                                                 limits::kLabelKeyBytesMax));
                   }
                 }},
                {"in",
                 [&](const YamlNode& at) {
                   ++forms;
                   match.op = LabelMatch::Op::kIn;
                   match.values = values(yaml, at, what + "[].in");
                 }},
                {"not_in",
                 [&](const YamlNode& at) {
                   ++forms;
                   match.op = LabelMatch::Op::kNotIn;
                   match.values = values(yaml, at, what + "[].not_in");
                 }},
                {"exists", [&](const YamlNode& at) {
                   ++forms;
                   const auto exists = yaml.yes_or_no(at, what + "[].exists");
                   match.op =
                       exists.value_or(true) ? LabelMatch::Op::kExists : LabelMatch::Op::kAbsent;
                 }}});
  if (yaml.error_count() > before) return std::nullopt;
  if (match.key.empty() || forms != 1) {
    yaml.refuse(node,
                fmt::format("an item of {} needs a label and one of in, not_in and exists", what));
    return std::nullopt;
  }
  return match;
}

}  // namespace

std::vector<LabelMatch> read_conditions(YamlReader& yaml, const YamlNode& node,
                                        const std::string& what, std::vector<const YamlNode*>* at) {
  std::vector<LabelMatch> matches;
  yaml.sequence(node, what, limits::kPolicyRulesMax, [&](const YamlNode& item) {
    auto match = condition(yaml, item, what);
    if (!match) return;
    matches.push_back(std::move(*match));
    if (at != nullptr) at->push_back(&item);
  });
  return matches;
}

std::string read_pattern(YamlReader& yaml, const YamlNode& node, const std::string& what) {
  const auto text = yaml.text(node, what);
  if (!text || *text == "*") return "";
  warn_of_inner_star(yaml, node, *text);
  return *text;
}

std::optional<std::string> refuse_dimension_name(std::string_view name) {
  const bool is_speakable = !name.empty() && name.size() <= limits::kPolicyKeyBytesMax &&
                            is_plain_text(name) && name.front() != ' ' && name.back() != ' ' &&
                            std::all_of(name.begin(), name.end(), [](char c) {
                              return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f &&
                                     c != ',' && c != '=' && c != '!';
                            });
  if (is_speakable) return std::nullopt;
  return fmt::format(
      "'{}' can't be a dimension's name: 1 to {} bytes of plain text without ',', "
      "'=' and '!'",
      printable_text(name, 80), limits::kPolicyKeyBytesMax);
}

}  // namespace pennyweight
