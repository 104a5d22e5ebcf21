#include "config/spread_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "allocation/policy/words.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

std::string key_of(std::string_view key) { return fmt::format("policy.spread[].{}", key); }

constexpr std::array<PostingKind, 6> kSpreadKinds = {
    PostingKind::kHeldIdle, PostingKind::kUnallocated, PostingKind::kStranded,
    PostingKind::kOverhead, PostingKind::kUnavailable, PostingKind::kShared};

// Reads one rule. Keys may come in any order, so their combination is checked when all are read.
class SpreadRuleReader {
 public:
  SpreadRuleReader(YamlReader& yaml, std::vector<DimensionUse>& dimensions_used)
      : yaml_(yaml), dimensions_used_(dimensions_used) {}

  std::optional<SpreadRule> read(const YamlNode& node) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "a rule of policy.spread")) return std::nullopt;
    const std::size_t before = yaml_.error_count();
    yaml_.mapping(node, "policy.spread[]",
                  {{"kind", [&](const YamlNode& at) { kind(at); }},
                   {"service_category", filter(rule_.service_category, "service_category")},
                   {"service_name", filter(rule_.service_name, "service_name")},
                   {"charge_category", filter(rule_.charge_category, "charge_category")},
                   {"how",
                    [&](const YamlNode& at) {
                      how_ = &at;
                      word(at, "how", words::kSpread, rule_.how);
                    }},
                   {"within",
                    [&](const YamlNode& at) {
                      target_ = &at;
                      word(at, "within", words::kWithin, rule_.within);
                    }},
                   {"over",
                    [&](const YamlNode& at) {
                      target_ = &at;
                      word(at, "over", words::kOver, rule_.over);
                    }},
                   {"measure",
                    [&](const YamlNode& at) {
                      target_ = &at;
                      measure(at);
                    }},
                   {"dimension", [&](const YamlNode& at) { dimension(at); }},
                   {"parts", [&](const YamlNode& at) { parts(at); }}});
    if (yaml_.error_count() == before) check(node);
    if (yaml_.error_count() > before) return std::nullopt;
    return rule_;
  }

 private:
  void kind(const YamlNode& node) {
    kind_ = &node;
    std::vector<std::string_view> names;
    for (const PostingKind kind : kSpreadKinds) names.push_back(to_text(kind));
    if (const auto found = yaml_.choice(node, key_of("kind"), names))
      rule_.kind = kSpreadKinds[*found];
  }

  YamlReader::Reader filter(std::string& target, const char* key) {
    return [&target, key, this](const YamlNode& at) {
      filter_ = &at;
      target = read_pattern(yaml_, at, key_of(key));
    };
  }

  template <class Enum>
  void word(const YamlNode& node, const char* key, std::span<const std::string_view> words,
            Enum& target) {
    const auto found = yaml_.choice(node, key_of(key), words);
    if (found) target = static_cast<Enum>(*found);
  }

  void measure(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMapping) {
      return word(node, "measure", std::span(words::kMeasure).first(words::kMeasure.size() - 1),
                  rule_.measure);
    }
    yaml_.mapping(node, key_of("measure"),
                  {{"named", [&](const YamlNode& at) {
                      rule_.measure = SpreadMeasure::kNamed;
                      rule_.named = yaml_.text(at, key_of("measure.named")).value_or("");
                    }}});
    if (node.entries.empty())
      yaml_.refuse(node, key_of("measure") + " needs a name: {named: tickets}");
  }

  void dimension(const YamlNode& node) {
    dimension_ = &node;
    const auto name = yaml_.text(node, key_of("dimension"));
    if (!name) return;
    rule_.dimension = *name;
    dimensions_used_.push_back({*name, node.line, node.column, key_of("dimension")});
  }

  void parts(const YamlNode& node) {
    parts_ = &node;
    if (!yaml_.is(node, YamlNode::Kind::kMapping, key_of("parts"))) return;
    if (node.entries.size() > limits::kPolicyValuesMax) {
      return yaml_.refuse(node, fmt::format("{} has {} items; {} is the most", key_of("parts"),
                                            node.entries.size(), limits::kPolicyValuesMax));
    }
    for (const YamlNode::Entry& entry : node.entries) part(entry);
    if (node.entries.empty()) yaml_.refuse(node, key_of("parts") + " is empty");
  }

  void part(const YamlNode::Entry& entry) {
    // No longer than a key of the canonical text may be.
    if (entry.key.empty() || entry.key.size() > limits::kPolicyKeyBytesMax ||
        !is_plain_text(entry.key)) {
      return yaml_.refuse(entry.line, entry.column,
                          fmt::format("a value with a part has 1 to {} bytes of plain text",
                                      limits::kPolicyKeyBytesMax));
    }
    const auto part = yaml_.decimal(entry.value, key_of("parts.") + entry.key, Decimal(),
                                    Decimal::from_units(kPartMax));
    if (!part) return;
    if (*part == Decimal()) {
      return yaml_.refuse(entry.value, fmt::format("the part of '{}' must be more than 0; leave "
                                                   "out values that bear nothing",
                                                   entry.key));
    }
    rule_.parts.push_back({entry.key, *part});
  }

  void check(const YamlNode& node) {
    if (kind_ == nullptr) return yaml_.refuse(node, "a rule of policy.spread needs a kind");
    if (how_ == nullptr) return yaml_.refuse(node, "a rule of policy.spread needs how");
    if (filter_ != nullptr && rule_.kind != PostingKind::kShared) {
      return yaml_.refuse(*filter_, fmt::format("only kind shared can be restricted by "
                                                "service and category, not {}",
                                                to_text(rule_.kind)));
    }
    if (rule_.measure == SpreadMeasure::kNamed && rule_.how != Spread::kProportional) {
      return yaml_.refuse(*target_, "a named measure needs how: proportional");
    }
    const std::string how(words::text(rule_.how));
    if (rule_.how == Spread::kKeep && target_ != nullptr) {
      return yaml_.refuse(*target_, "how: keep moves nothing; leave out within, over and measure");
    }
    needs(node, dimension_, rule_.needs_dimension(), "dimension", how);
    needs(node, parts_, rule_.needs_parts(), "parts", how);
  }

  void needs(const YamlNode& node, const YamlNode* given, bool needed, std::string_view key,
             const std::string& how) {
    if (needed && given == nullptr) {
      yaml_.refuse(
          node, fmt::format("a rule of policy.spread with how: {}{} needs {}", how,
                            rule_.how == Spread::kProportional ? " and a named measure" : "", key));
    } else if (!needed && given != nullptr) {
      yaml_.refuse(*given, fmt::format("{} has no meaning with how: {}; leave it out", key, how));
    }
  }

  static constexpr std::int64_t kPartMax = 1'000'000'000'000;

  YamlReader& yaml_;
  std::vector<DimensionUse>& dimensions_used_;
  SpreadRule rule_;
  // The places of keys that only some other keys allow.
  const YamlNode* kind_ = nullptr;
  const YamlNode* how_ = nullptr;
  const YamlNode* filter_ = nullptr;
  const YamlNode* target_ = nullptr;
  const YamlNode* dimension_ = nullptr;
  const YamlNode* parts_ = nullptr;
};

}  // namespace

std::vector<SpreadRule> read_spread_rules(YamlReader& yaml, const YamlNode& node,
                                          std::vector<DimensionUse>& dimensions_used,
                                          std::vector<const YamlNode*>* at) {
  std::vector<SpreadRule> rules;
  yaml.sequence(node, "policy.spread", limits::kPolicyRulesMax, [&](const YamlNode& item) {
    auto rule = SpreadRuleReader(yaml, dimensions_used).read(item);
    if (!rule) return;
    rules.push_back(std::move(*rule));
    at->push_back(&item);
  });
  return rules;
}

}  // namespace pennyweight
