#include "config/policy_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "allocation/policy/unreachable.h"
#include "allocation/policy/words.h"
#include "config/condition_reader.h"
#include "config/derive_reader.h"
#include "config/nearest.h"
#include "config/spread_reader.h"
#include "core/limits.h"
#include "ledger/summary.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kWeightMax = 1'000'000;
constexpr std::uint64_t kWeightSumsMax = std::uint64_t{1} << 31;
constexpr std::int64_t kPriorityMax = 1'000'000;
constexpr std::int64_t kRatioMax = 1'000'000;
constexpr std::int64_t kIntervalMinMs = 100;  // the fastest that DCGM samples
constexpr std::int64_t kIntervalMaxMs =
    3'600'000;  // at more than an hour a job is no longer observed
constexpr std::uint32_t kHoldMinPermille = 1000;
constexpr std::uint32_t kHoldMaxPermille = 100'000;
constexpr std::int64_t kShiftMaxMs = 86'400'000;

class PolicyReader {
 public:
  PolicyReader(const std::string& name, const Policy& defaults) : yaml_(name) {
    reading_.policy = defaults;
  }

  PolicyReading read(const YamlNode& root, PolicyVersion version) {
    bool has_version = false;
    std::vector<const YamlNode*> split_default;
    Policy& policy = reading_.policy;
    yaml_.mapping(
        root, "policy",
        {{"version",
          [&](const YamlNode& at) {
            has_version = true;
            this->version(at);
          }},
         {"name",
          [&](const YamlNode& at) { take(policy.name, yaml_.any_text(at, "policy.name")); }},
         {"basis", [&](const YamlNode& at) { take(policy.basis, basis(at, "policy.basis")); }},
         {"weights",
          [&](const YamlNode& at) {
            take(policy.weights, weights(at, "policy.weights", policy.weights));
          }},
         {"sharing", [&](const YamlNode& at) { sharing(at); }},
         {"node_split", [&](const YamlNode& at) { split_default.push_back(&at); }},
         {"node_splits", [&](const YamlNode& at) { node_splits(at); }},
         {"usage", [&](const YamlNode& at) { usage(at); }},
         {"overhead",
          [&](const YamlNode& at) {
            policy.overhead = read_conditions(yaml_, at, "policy.overhead", &overhead_at_);
          }},
         {"spread",
          [&](const YamlNode& at) {
            policy.spread = read_spread_rules(yaml_, at, dimensions_used_, &spread_at_);
          }},
         {"owners", [&](const YamlNode& at) { owners(at); }},
         {"dimensions",
          [&](const YamlNode& at) {
            reading_.states_dimensions = true;
            policy.dimensions = read_dimensions(yaml_, at, "policy.dimensions");
          }},
         {"time_zone", [&](const YamlNode& at) { time_zone(at); }}});
    if (version == PolicyVersion::kRequired && !has_version &&
        (root.kind == YamlNode::Kind::kMapping || root.kind == YamlNode::Kind::kNull)) {
      yaml_.refuse(root, "a policy begins with version: 1");
    }
    // After node_splits, in whichever order the document has them: it is for types that no rule
    // names.
    for (const YamlNode* at : split_default) default_split(*at);
    check_whole(root);
    reading_.problems = yaml_.problems();
    reading_.known_keys = yaml_.known_keys();
    return std::move(reading_);
  }

 private:
  template <class Value>
  static void take(Value& target, std::optional<Value> value) {
    if (value) target = std::move(*value);
  }

  void version(const YamlNode& node) {
    if (!yaml_.is(node, YamlNode::Kind::kScalar, "policy.version")) return;
    if (node.scalar == std::to_string(kPolicyFormat)) return;
    yaml_.refuse(node,
                 fmt::format("policy.version is {}, not '{}'; a later pennyweight may read it",
                             kPolicyFormat, node.scalar.substr(0, 20)));
  }

  std::optional<Basis> basis(const YamlNode& node, const std::string& what) {
    static constexpr std::string_view kForms = "request, usage, max or {blend: 0.3}";
    Basis basis;
    if (node.kind == YamlNode::Kind::kMapping) {
      std::optional<std::uint32_t> part;
      yaml_.mapping(node, what, {{"blend", [&](const YamlNode& at) {
                                    part = yaml_.permille(at, what + ".blend", 0, 1000);
                                  }}});
      if (node.entries.empty()) yaml_.refuse(node, fmt::format("{} is {}", what, kForms));
      if (!part) return std::nullopt;
      basis.kind = Basis::Kind::kBlend;
      basis.request_permille = *part;
      return basis;
    }
    if (!yaml_.is(node, YamlNode::Kind::kScalar, what)) return std::nullopt;
    const auto word = std::find(words::kBasis.begin(), words::kBasis.end() - 1, node.scalar);
    if (word == words::kBasis.end() - 1) {
      yaml_.refuse(node, fmt::format("{} is {}, not '{}'", what, kForms, shown(node)));
      return std::nullopt;
    }
    basis.kind = static_cast<Basis::Kind>(word - words::kBasis.begin());
    return basis;
  }

  // A missing key stays as in `weights`.
  std::optional<ShareWeights> weights(const YamlNode& node, const std::string& what,
                                      ShareWeights weights) {
    bool is_read = true;
    const auto weight = [&](std::uint32_t& target, const char* key) {
      return [&, key](const YamlNode& at) {
        const auto value = yaml_.integer(at, what + "." + key, 0, kWeightMax);
        is_read = is_read && value;
        if (value) target = static_cast<std::uint32_t>(*value);
      };
    };
    yaml_.mapping(node, what,
                  {{"compute", weight(weights.compute, "compute")},
                   {"memory", weight(weights.memory, "memory")}});
    if (!is_read) return std::nullopt;
    if (weights.compute == 0 && weights.memory == 0) {
      yaml_.refuse(node, what + ": one of compute and memory must be more than 0");
      return std::nullopt;
    }
    return weights;
  }

  void sharing(const YamlNode& node) {
    reading_.policy.sharing.clear();
    yaml_.sequence(node, "policy.sharing", limits::kPolicyRulesMax,
                   [&](const YamlNode& item) { sharing_rule(item); });
  }

  void sharing_rule(const YamlNode& node) {
    const std::string what = "policy.sharing[]";
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "a rule of policy.sharing")) return;
    SharingRule rule;
    const std::size_t before = yaml_.error_count();
    yaml_.mapping(
        node, what,
        {{"cluster",
          [&](const YamlNode& at) { rule.cluster = read_pattern(yaml_, at, what + ".cluster"); }},
         {"gpu_model",
          [&](const YamlNode& at) {
            // A model's whole name. Names of models begin alike, so "A100*" would match too many.
            const auto model = yaml_.text(at, what + ".gpu_model");
            if (model && *model != "*") rule.gpu_model = *model;
          }},
         {"workload",
          [&](const YamlNode& at) {
            rule.workload = read_conditions(yaml_, at, what + ".workload", nullptr);
          }},
         {"basis", [&](const YamlNode& at) { rule.basis = basis(at, what + ".basis"); }},
         {"weights", [&](const YamlNode& at) {
            rule.weights = weights(at, what + ".weights", ShareWeights{});
          }}});
    if (!rule.basis && !rule.weights && yaml_.error_count() == before) {
      yaml_.refuse(node, "a rule of policy.sharing needs a basis, weights or both");
    }
    reading_.policy.sharing.push_back(std::move(rule));
    sharing_at_.push_back(&node);
  }

  struct SplitKeys {
    const char* gpu;
    const char* cpu;
    const char* memory;
  };

  NodeSplitRule split(const YamlNode& node, const std::string& what) {
    static constexpr std::string_view kForms =
        "residual, whole_node, {ratio: {gpu: 9, vcpu: 0.9, gib: 0.1}} or {explicit: {gpu: 0.9, "
        "cpu: 0.07, memory: 0.03}}";
    NodeSplitRule rule;
    if (node.kind == YamlNode::Kind::kMapping) {
      yaml_.mapping(node, what,
                    {{"ratio",
                      [&](const YamlNode& at) {
                        rule.how = NodeSplit::kRatio;
                        numbers(at, what + ".ratio", {"gpu", "vcpu", "gib"}, rule);
                      }},
                     {"explicit", [&](const YamlNode& at) {
                        rule.how = NodeSplit::kExplicit;
                        numbers(at, what + ".explicit", {"gpu", "cpu", "memory"}, rule);
                      }}});
      if (node.entries.size() != 1) yaml_.refuse(node, fmt::format("{} is {}", what, kForms));
      return rule;
    }
    if (!yaml_.is(node, YamlNode::Kind::kScalar, what)) return rule;
    if (node.scalar == words::text(NodeSplit::kWholeNode)) {
      rule.how = NodeSplit::kWholeNode;
    } else if (node.scalar != words::text(NodeSplit::kResidual)) {
      yaml_.refuse(node, fmt::format("{} is {}, not '{}'", what, kForms, shown(node)));
    }
    return rule;
  }

  void numbers(const YamlNode& node, const std::string& what, const SplitKeys& keys,
               NodeSplitRule& rule) {
    const bool is_explicit = rule.how == NodeSplit::kExplicit;
    const Decimal max = Decimal::from_units(is_explicit ? 1 : kRatioMax);
    const std::size_t before = yaml_.error_count();
    const auto number = [&](Decimal& target, const char* key) {
      return [&, key](const YamlNode& at) {
        take(target, yaml_.decimal(at, what + "." + key, Decimal(), max));
      };
    };
    yaml_.mapping(node, what,
                  {{keys.gpu, number(rule.gpu, keys.gpu)},
                   {keys.cpu, number(rule.cpu, keys.cpu)},
                   {keys.memory, number(rule.memory, keys.memory)}});
    if (yaml_.error_count() > before) return;
    const Decimal sum =
        Decimal::from_ticks(rule.gpu.ticks() + rule.cpu.ticks() + rule.memory.ticks());
    if (is_explicit && sum != Decimal::from_units(1)) {
      yaml_.refuse(
          node, fmt::format("{}: the parts must add up to 1, and they are {}", what, to_text(sum)));
    } else if (sum == Decimal()) {
      yaml_.refuse(node, what + ": one of the prices must be more than 0");
    }
  }

  void default_split(const YamlNode& node) {
    NodeSplitRule rule = split(node, "policy.node_split");
    if (rule.how == NodeSplit::kResidual || rule.how == NodeSplit::kWholeNode) {
      reading_.policy.node_split = rule.how;
      return;
    }
    // A rule holds the numbers; this rule is for every type that no other rule names.
    reading_.policy.node_split = NodeSplit::kResidual;
    reading_.policy.node_splits.push_back(std::move(rule));
    split_at_.push_back(&node);
  }

  void node_splits(const YamlNode& node) {
    reading_.policy.node_splits.clear();
    yaml_.sequence(node, "policy.node_splits", limits::kPolicyRulesMax, [&](const YamlNode& item) {
      const std::string what = "policy.node_splits[]";
      if (!yaml_.is(item, YamlNode::Kind::kMapping, "a rule of policy.node_splits")) return;
      NodeSplitRule rule;
      std::string type;
      bool has_split = false;
      yaml_.mapping(
          item, what,
          {{"instance_type",
            [&](const YamlNode& at) { type = read_pattern(yaml_, at, what + ".instance_type"); }},
           {"split", [&](const YamlNode& at) {
              has_split = true;
              rule = split(at, what + ".split");
            }}});
      if (!has_split) yaml_.refuse(item, "a rule of policy.node_splits needs a split");
      rule.instance_type = std::move(type);
      reading_.policy.node_splits.push_back(std::move(rule));
      split_at_.push_back(&item);
    });
  }

  void usage(const YamlNode& node) {
    UsageRules& usage = reading_.policy.usage;
    yaml_.mapping(node, "policy.usage",
                  {{"activity", [&](const YamlNode& at) { activity(at); }},
                   {"interval",
                    [&](const YamlNode& at) {
                      const auto value = yaml_.duration(at, "policy.usage.interval", kIntervalMinMs,
                                                        kIntervalMaxMs);
                      if (value) usage.interval_ms = static_cast<std::uint64_t>(*value);
                    }},
                   {"hold",
                    [&](const YamlNode& at) {
                      take(usage.hold_permille, yaml_.permille(at, "policy.usage.hold",
                                                               kHoldMinPermille, kHoldMaxPermille));
                    }},
                   {"shift", [&](const YamlNode& at) {
                      take(usage.shift_ms,
                           yaml_.duration(at, "policy.usage.shift", -kShiftMaxMs, kShiftMaxMs));
                    }}});
  }

  void activity(const YamlNode& node) {
    auto& order = reading_.policy.usage.activity;
    order.clear();
    yaml_.sequence(node, "policy.usage.activity", limits::kPolicyValuesMax,
                   [&](const YamlNode& item) {
                     const auto word =
                         yaml_.choice(item, "an item of policy.usage.activity", words::kActivity);
                     if (!word) return;
                     const auto kind = static_cast<UsageRules::Activity>(*word);
                     if (std::find(order.begin(), order.end(), kind) != order.end()) {
                       return yaml_.refuse(
                           item, fmt::format("policy.usage.activity has {} twice", item.scalar));
                     }
                     order.push_back(kind);
                   });
  }

  void owners(const YamlNode& node) {
    reading_.policy.owners.clear();
    yaml_.sequence(node, "policy.owners", limits::kPolicyRulesMax,
                   [&](const YamlNode& item) { owner_rule(item); });
  }

  void owner_rule(const YamlNode& node) {
    const std::string what = "policy.owners[]";
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "a rule of policy.owners")) return;
    OwnerRule rule;
    const std::size_t before = yaml_.error_count();
    yaml_.mapping(
        node, what,
        {{"priority",
          [&](const YamlNode& at) {
            rule.priority = static_cast<std::int32_t>(
                yaml_.integer(at, what + ".priority", -kPriorityMax, kPriorityMax).value_or(0));
          }},
         {"when",
          [&](const YamlNode& at) {
            rule.when = read_conditions(yaml_, at, what + ".when", nullptr);
            note_dimensions_asked(at, rule.when);
          }},
         {"set", [&](const YamlNode& at) { owner_values(at, rule); }}});
    if (rule.set.empty() && yaml_.error_count() == before) {
      yaml_.refuse(node, "a rule of policy.owners needs set: {dimension: value}");
    }
    reading_.policy.owners.push_back(std::move(rule));
    owners_at_.push_back(&node);
  }

  void owner_values(const YamlNode& node, OwnerRule& rule) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "policy.owners[].set")) return;
    for (const YamlNode::Entry& entry : node.entries) {
      const auto value = yaml_.text(entry.value, "policy.owners[].set." + entry.key);
      if (!value) continue;
      rule.set.emplace_back(entry.key, *value);
      dimensions_used_.push_back({entry.key, entry.line, entry.column, "policy.owners[].set"});
    }
  }

  // "dimension:team" as a label means the value that earlier rules have set.
  void note_dimensions_asked(const YamlNode& node, const std::vector<LabelMatch>& matches) {
    constexpr std::string_view kPrefix = "dimension:";
    for (const LabelMatch& match : matches) {
      if (!match.key.starts_with(kPrefix)) continue;
      dimensions_used_.push_back(
          {match.key.substr(kPrefix.size()), node.line, node.column, "policy.owners[].when"});
    }
  }

  void time_zone(const YamlNode& node) {
    reading_.states_time_zone = true;
    const auto name = yaml_.text(node, "policy.time_zone");
    if (!name) return;
    const auto zone = TimeZone::parse(*name);
    if (!zone) return yaml_.refuse(node, zone.error().message);
    reading_.policy.time_zone = *zone;
  }

  // Checks that involve several sections of the document.
  void check_whole(const YamlNode& root) {
    std::vector<std::string> names;
    for (const DimensionRule& rule : reading_.policy.dimensions) names.push_back(rule.dimension);
    for (const DimensionUse& use : dimensions_used_) {
      if (std::find(names.begin(), names.end(), use.dimension) != names.end()) continue;
      yaml_.refuse(
          use.line, use.column,
          fmt::format("{} names the dimension '{}', which policy.dimensions does not have{}",
                      use.where, use.dimension, suggestion(use.dimension, names)));
    }
    if (yaml_.has_errors()) return;
    check_weight_sums(root);
    std::sort(
        reading_.policy.dimensions.begin(), reading_.policy.dimensions.end(),
        [](const DimensionRule& a, const DimensionRule& b) { return a.dimension < b.dimension; });
    warn_of_unreachable();
  }

  // Rules are compared by weights over a common sum, which must stay a small number.
  void check_weight_sums(const YamlNode& root) {
    const auto sum_of = [](const ShareWeights& weights) {
      return std::uint64_t{weights.compute} + weights.memory;
    };
    const Policy& policy = reading_.policy;
    std::uint64_t sum = sum_of(policy.weights);
    for (std::size_t i = 0; i < policy.sharing.size(); ++i) {
      if (!policy.sharing[i].weights) continue;
      sum = std::lcm(sum, sum_of(*policy.sharing[i].weights));
      if (sum < kWeightSumsMax) continue;
      return yaml_.refuse(i < sharing_at_.size() ? *sharing_at_[i] : root,
                          "policy.sharing: the sums of the weights have no common multiple below "
                          "2^31; let compute and memory add up to the same everywhere, such as "
                          "1000");
    }
  }

  void warn_of_unreachable() {
    using List = UnreachableRule::List;
    const std::pair<std::string_view, const std::vector<const YamlNode*>*> lists[] = {
        {"policy.sharing", &sharing_at_},
        {"policy.node_splits", &split_at_},
        {"policy.overhead", &overhead_at_},
        {"policy.spread", &spread_at_},
        {"policy.owners", &owners_at_}};
    static_assert(static_cast<std::size_t>(List::kOwners) == std::size(lists) - 1);
    for (const UnreachableRule& found : unreachable_rules(reading_.policy)) {
      const auto& [what, at] = lists[static_cast<std::size_t>(found.list)];
      if (found.rule >= at->size() || found.earlier >= at->size()) continue;  // of the defaults
      const YamlNode& rule = *(*at)[found.rule];
      yaml_.warn(rule, fmt::format("this rule of {} never applies: the one in line {} "
                                   "comes first and matches everything that it would",
                                   what, (*at)[found.earlier]->line));
    }
  }

  static std::string shown(const YamlNode& node) { return node.scalar.substr(0, 80); }

  YamlReader yaml_;
  PolicyReading reading_;
  // The places of each list's rules.
  std::vector<const YamlNode*> sharing_at_, split_at_, overhead_at_, spread_at_, owners_at_;
  std::vector<DimensionUse> dimensions_used_;
};

void read_dimension(YamlReader& yaml, const YamlNode::Entry& entry, const std::string& what,
                    std::vector<DimensionRule>& rules) {
  const auto refuse = [&](const std::string& why) { yaml.refuse(entry.line, entry.column, why); };
  const auto* const end = std::end(kBuiltInDimensions);
  if (std::find(std::begin(kBuiltInDimensions), end, entry.key) != end) {
    return refuse(fmt::format("'{}' is a built-in dimension; choose another name", entry.key));
  }
  if (const auto why = refuse_dimension_name(entry.key)) return refuse(*why);
  DimensionRule rule{entry.key, {}, "(none)"};
  const std::size_t before = yaml.error_count();
  yaml.mapping(entry.value, what + ".NAME",
               {{"from",
                 [&](const YamlNode& at) {
                   rule.labels = yaml.texts(at, "from", limits::kPolicyValuesMax);
                 }},
                {"derive",
                 [&](const YamlNode& at) {
                   rule.derive = read_derive_rules(yaml, at, what + ".NAME.derive");
                 }},
                {"fallback", [&](const YamlNode& at) {
                   if (auto text = yaml.any_text(at, "fallback")) rule.fallback = std::move(*text);
                 }}});
  if (yaml.error_count() > before) return;
  if (rule.labels.empty()) {
    return refuse(fmt::format("the dimension '{}' needs from: [label, …]", entry.key));
  }
  rules.push_back(std::move(rule));
}

}  // namespace

std::vector<DimensionRule> read_dimensions(YamlReader& reader, const YamlNode& node,
                                           const std::string& what) {
  std::vector<DimensionRule> rules;
  if (node.kind == YamlNode::Kind::kNull) return rules;
  if (!reader.is(node, YamlNode::Kind::kMapping, what)) return rules;
  if (node.entries.size() > limits::kPolicyRulesMax) {
    reader.refuse(node, fmt::format("{} has {} items; {} is the most", what, node.entries.size(),
                                    limits::kPolicyRulesMax));
    return rules;
  }
  for (const YamlNode::Entry& entry : node.entries) read_dimension(reader, entry, what, rules);
  return rules;
}

PolicyReading read_policy(const YamlNode& root, const std::string& name, const Policy& defaults,
                          PolicyVersion version) {
  return PolicyReader(name, defaults).read(root, version);
}

PolicyReading check_policy(std::string_view yaml, const std::string& name, const Policy& defaults) {
  const auto root = parse_yaml(yaml, name);
  if (root) return read_policy(*root, name, defaults, PolicyVersion::kRequired);
  PolicyReading reading;
  reading.policy = defaults;
  reading.problems = {{1, 1, false, root.error().message}};
  return reading;
}

Result<Policy> parse_policy(std::string_view yaml, const std::string& name,
                            const Policy& defaults) {
  PolicyReading reading = check_policy(yaml, name, defaults);
  if (auto error = first_error(reading.problems)) return std::unexpected(std::move(*error));
  return std::move(reading.policy);
}

}  // namespace pennyweight
