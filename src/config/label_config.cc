#include "config/label_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/derive_reader.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

class LabelConfigReader {
 public:
  explicit LabelConfigReader(YamlReader& yaml) : yaml_(yaml) {}

  LabelPolicy read(const YamlNode& root) {
    std::optional<Date> in_force_from;
    LabelPolicy policy = default_label_policy();
    yaml_.mapping(root, "labels",
                  {{"in_force_from",
                    [&](const YamlNode& at) { in_force_from = date(at, "labels.in_force_from"); }},
                   {"required", [&](const YamlNode& at) {
                      policy.required.clear();
                      yaml_.sequence(
                          at, "labels.required", kRequiredLabelsMax,
                          [&](const YamlNode& item) { requirement(item, policy.required); });
                    }}});
    for (LabelRequirement& requirement : policy.required) {
      if (!requirement.in_force_from) requirement.in_force_from = in_force_from;
    }
    return policy;
  }

 private:
  std::optional<Date> date(const YamlNode& node, const std::string& what) {
    const auto text = yaml_.text(node, what);
    if (!text) return std::nullopt;
    const auto parsed = parse_date(*text);
    if (parsed) return *parsed;
    yaml_.refuse(node, what + ": " + parsed.error().message);
    return std::nullopt;
  }

  // A requirement is written as its key alone, or as a mapping.
  void requirement(const YamlNode& node, std::vector<LabelRequirement>& required) {
    const std::string what = "labels.required[]";
    std::optional<LabelRequirement> found;
    if (node.kind == YamlNode::Kind::kMapping) {
      found = mapping(node, what);
    } else if (const auto key = yaml_.text(node, what)) {
      found = default_requirement(*key);
    }
    if (!found) return;
    if (std::ranges::find(required, found->key, &LabelRequirement::key) != required.end()) {
      return yaml_.refuse(node, fmt::format("the label '{}' is required twice", found->key));
    }
    required.push_back(*std::move(found));
  }

  std::optional<LabelRequirement> mapping(const YamlNode& node, const std::string& what) {
    const std::size_t before = yaml_.error_count();
    std::optional<std::string> key, dimension;
    std::optional<std::vector<std::string>> labels;
    LabelRequirement parsed;
    yaml_.mapping(
        node, what,
        {{"key", [&](const YamlNode& at) { key = yaml_.text(at, what + ".key"); }},
         {"labels",
          [&](const YamlNode& at) {
            labels = yaml_.texts(at, what + ".labels", limits::kPolicyValuesMax);
          }},
         {"derive",
          [&](const YamlNode& at) {
            parsed.derive = read_derive_rules(yaml_, at, what + ".derive");
          }},
         {"dimension",
          [&](const YamlNode& at) { dimension = yaml_.any_text(at, what + ".dimension"); }},
         {"allowed",
          [&](const YamlNode& at) {
            parsed.allowed = yaml_.texts(at, what + ".allowed", limits::kPolicyValuesMax);
          }},
         {"allowed_pattern",
          [&](const YamlNode& at) {
            parsed.allowed_pattern = pattern(at, what + ".allowed_pattern");
          }},
         {"in_force_from",
          [&](const YamlNode& at) { parsed.in_force_from = date(at, what + ".in_force_from"); }}});
    if (yaml_.error_count() > before) return std::nullopt;
    if (!key) {
      yaml_.refuse(node, "a required label needs a key");
      return std::nullopt;
    }
    LabelRequirement usual = default_requirement(*key);
    parsed.key = usual.key;
    parsed.labels = labels ? std::move(*labels) : std::move(usual.labels);
    parsed.dimension = dimension ? std::move(*dimension) : std::move(usual.dimension);
    return parsed;
  }

  std::optional<LabelPattern> pattern(const YamlNode& node, const std::string& what) {
    const auto text = yaml_.text(node, what);
    if (!text) return std::nullopt;
    auto parsed = LabelPattern::parse(*text);
    if (parsed) return *std::move(parsed);
    yaml_.refuse(node, what + ": " + parsed.error().message);
    return std::nullopt;
  }

  YamlReader& yaml_;
};

}  // namespace

LabelPolicy read_label_config(YamlReader& reader, const YamlNode& node) {
  return LabelConfigReader(reader).read(node);
}

ConfigKeys label_config_keys() {
  return {
      {"labels.required[]", "key, or the keys below", "project-id, team-id, user-id",
       "The labels that every workload should carry; see [labels.md](labels.md)."},
      {"labels.required[].key", "text", "", "The requirement's name. Required."},
      {"labels.required[].labels", "list of labels", "the key",
       "Any of these labels meets the requirement. The three default requirements have their usual "
       "labels."},
      {"labels.required[].derive", "list of label, matches, value", "",
       "What may replace the label where a workload has none of them."},
      {"labels.required[].dimension", "dimension", "",
       "A dimension whose value, unless it is the fallback, may replace the label too. For the "
       "default requirements: project, team, user."},
      {"labels.required[].allowed", "list of values", "",
       "The values that count, with `*` allowed at the end. Without it: all."},
      {"labels.required[].allowed_pattern", "regular expression", "",
       "Values that match it as a whole count too."},
      {"labels.required[].in_force_from", "date", "labels.in_force_from",
       "Earlier days are not checked."},
      {"labels.in_force_from", "date", "", "The same for all requirements."},
  };
}

}  // namespace pennyweight
