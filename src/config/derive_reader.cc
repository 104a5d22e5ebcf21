#include "config/derive_reader.h"

#include <fmt/format.h>

#include "core/limits.h"

namespace pennyweight {
namespace {

void read_rule(YamlReader& yaml, const YamlNode& node, const std::string& what,
               std::vector<DeriveRule>& rules) {
  std::optional<std::string> label, value;
  std::optional<LabelPattern> pattern;
  const std::size_t before = yaml.error_count();
  yaml.mapping(node, what + "[]",
               {{"label", [&](const YamlNode& at) { label = yaml.text(at, what + "[].label"); }},
                {"matches",
                 [&](const YamlNode& at) {
                   const auto text = yaml.text(at, what + "[].matches");
                   if (!text) return;
                   auto parsed = LabelPattern::parse(*text);
                   if (!parsed) {
                     return yaml.refuse(at, what + "[].matches: " + parsed.error().message);
                   }
                   pattern = *std::move(parsed);
                 }},
                {"value", [&](const YamlNode& at) { value = yaml.text(at, what + "[].value"); }}});
  if (yaml.error_count() > before) return;
  if (!label || !pattern || !value) {
    return yaml.refuse(node, what + "[] needs label, matches and value");
  }
  if (const auto why = refuse_template(*pattern, *value)) {
    return yaml.refuse(node, fmt::format("{}[].value: {}", what, *why));
  }
  rules.push_back({std::move(*label), std::move(*pattern), std::move(*value)});
}

}  // namespace

std::vector<DeriveRule> read_derive_rules(YamlReader& yaml, const YamlNode& node,
                                          const std::string& what) {
  std::vector<DeriveRule> rules;
  yaml.sequence(node, what, limits::kPolicyRulesMax,
                [&](const YamlNode& item) { read_rule(yaml, item, what, rules); });
  return rules;
}

}  // namespace pennyweight
