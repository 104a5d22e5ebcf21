#include "config/guardrail_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "config/budget_config.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

using guardrails::GuardrailRule;
using guardrails::RuleConditions;

constexpr std::size_t kGuardrailRulesMax = 1000;
constexpr std::size_t kGuardrailListMax = 200;
constexpr std::int64_t kGuardrailRunMsMax = 8'640'000'000'000;  // 100,000 days

class GuardrailReader {
 public:
  explicit GuardrailReader(YamlReader& yaml) : yaml_(yaml) {}

  std::vector<GuardrailRule> read(const YamlNode& node) {
    std::vector<GuardrailRule> rules;
    yaml_.mapping(node, "guardrails", {{"rules", [&](const YamlNode& list) {
                                          yaml_.sequence(
                                              list, "guardrails.rules", kGuardrailRulesMax,
                                              [&](const YamlNode& item) { add_rule(item, rules); });
                                        }}});
    if (const auto currency = guardrails::rules_currency(rules); !currency) {
      yaml_.refuse(node, currency.error().message);
    }
    return rules;
  }

 private:
  void add_rule(const YamlNode& node, std::vector<GuardrailRule>& rules) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "an item of guardrails.rules")) return;
    const std::size_t before = yaml_.error_count();
    GuardrailRule rule;
    yaml_.mapping(
        node, "guardrails.rules[]",
        {{"name", [&](const YamlNode& at) { text(at, "guardrails.rules[].name", rule.name); }},
         {"mode",
          [&](const YamlNode& at) {
            const auto which =
                yaml_.choice(at, "guardrails.rules[].mode", guardrails::kRuleModeWords);
            if (which) rule.mode = static_cast<guardrails::RuleMode>(*which);
          }},
         {"effect",
          [&](const YamlNode& at) {
            const auto which =
                yaml_.choice(at, "guardrails.rules[].effect", guardrails::kRuleEffectWords);
            if (which) rule.effect = static_cast<guardrails::RuleEffect>(*which);
          }},
         {"when", [&](const YamlNode& at) { rule.when = conditions(at); }},
         {"reason",
          [&](const YamlNode& at) { text(at, "guardrails.rules[].reason", rule.reason); }},
         {"way_out",
          [&](const YamlNode& at) { text(at, "guardrails.rules[].way_out", rule.way_out); }},
         {"exempt", [&](const YamlNode& at) { exemptions(at, rule); }}});
    if (yaml_.error_count() != before) return;
    if (rule.name.empty()) return yaml_.refuse(node, "a rule needs a name");
    if (rule.when == RuleConditions()) {
      return yaml_.refuse(node, fmt::format("rule '{}' has no condition and would apply to "
                                            "everything; state when, such as {{kind: \"*\"}}",
                                            rule.name));
    }
    if (std::ranges::any_of(rules, [&](const auto& other) { return other.name == rule.name; })) {
      return yaml_.refuse(node, fmt::format("two rules are called '{}'", rule.name));
    }
    rules.push_back(std::move(rule));
  }

  RuleConditions conditions(const YamlNode& node) {
    RuleConditions when;
    const std::string what = "guardrails.rules[].when";
    yaml_.mapping(
        node, what,
        {{"kind", [&](const YamlNode& at) { when.kinds = list(at, what + ".kind"); }},
         {"namespace",
          [&](const YamlNode& at) { when.namespaces = list(at, what + ".namespace"); }},
         {"name", [&](const YamlNode& at) { when.names = list(at, what + ".name"); }},
         {"label", [&](const YamlNode& at) { labels(at, what + ".label", when); }},
         {"label_missing",
          [&](const YamlNode& at) { when.labels_missing = list(at, what + ".label_missing"); }},
         {"gpu_model",
          [&](const YamlNode& at) { when.gpu_models = list(at, what + ".gpu_model"); }},
         {"region", [&](const YamlNode& at) { when.regions = list(at, what + ".region"); }},
         {"region_not",
          [&](const YamlNode& at) { when.regions_except = list(at, what + ".region_not"); }},
         {"provider", [&](const YamlNode& at) { when.providers = list(at, what + ".provider"); }},
         {"gpus_above",
          [&](const YamlNode& at) {
            const auto gpus = yaml_.integer(at, what + ".gpus_above", 0, 1'000'000'000);
            if (gpus) when.gpus_above = static_cast<std::uint64_t>(*gpus);
          }},
         {"per_hour_above",
          [&](const YamlNode& at) { when.per_hour_above = money(at, what + ".per_hour_above"); }},
         {"per_run_above",
          [&](const YamlNode& at) { when.per_run_above = money(at, what + ".per_run_above"); }},
         {"per_month_above",
          [&](const YamlNode& at) { when.per_month_above = money(at, what + ".per_month_above"); }},
         {"time_above",
          [&](const YamlNode& at) {
            const auto ms = yaml_.duration(at, what + ".time_above", 0, kGuardrailRunMsMax);
            if (ms) when.run_ms_above = static_cast<std::uint64_t>(*ms);
          }},
         {"spot", [&](const YamlNode& at) { when.spot = yaml_.yes_or_no(at, what + ".spot"); }},
         {"priced",
          [&](const YamlNode& at) { when.priced = yaml_.yes_or_no(at, what + ".priced"); }}});
    return when;
  }

  void exemptions(const YamlNode& node, GuardrailRule& rule) {
    yaml_.sequence(node, "guardrails.rules[].exempt", kGuardrailListMax, [&](const YamlNode& item) {
      guardrails::RuleExemption exemption;
      std::optional<Date> until;
      yaml_.mapping(item, "guardrails.rules[].exempt[]",
                    {{"when", [&](const YamlNode& at) { exemption.when = conditions(at); }},
                     {"reason",
                      [&](const YamlNode& at) {
                        text(at, "guardrails.rules[].exempt[].reason", exemption.reason);
                      }},
                     {"until", [&](const YamlNode& at) { until = date(at); }}});
      if (exemption.reason.empty() || !until) {
        return yaml_.refuse(item, "an exemption needs a reason, and until: its last day");
      }
      exemption.until = *until;
      rule.exemptions.push_back(std::move(exemption));
    });
  }

  // One text, or a list of them.
  std::vector<std::string> list(const YamlNode& node, const std::string& what) {
    if (node.kind == YamlNode::Kind::kSequence) return yaml_.texts(node, what, kGuardrailListMax);
    if (auto one = yaml_.text(node, what)) return {std::move(*one)};
    return {};
  }

  // A mapping from any label to a pattern of its value.
  void labels(const YamlNode& node, const std::string& what, RuleConditions& when) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, what)) return;
    if (node.entries.size() > kGuardrailListMax) {
      return yaml_.refuse(node, fmt::format("{} has more than {} labels", what, kGuardrailListMax));
    }
    for (const YamlNode::Entry& entry : node.entries) {
      if (auto value = yaml_.text(entry.value, fmt::format("{}.{}", what, entry.key))) {
        when.labels.emplace_back(entry.key, std::move(*value));
      }
    }
  }

  std::optional<Money> money(const YamlNode& node, const std::string& what) {
    const auto value = yaml_.text(node, what);
    if (!value) return std::nullopt;
    const auto amount = parse_amount(*value);
    if (amount && amount->currency() != kGpuHourUnit && !amount->is_negative()) return *amount;
    yaml_.refuse(node, fmt::format("{} is an amount such as 100 USD", what));
    return std::nullopt;
  }

  std::optional<Date> date(const YamlNode& node) {
    const auto value = yaml_.text(node, "guardrails.rules[].exempt[].until");
    if (!value) return std::nullopt;
    const auto day = parse_date(*value);
    if (day) return *day;
    yaml_.refuse(node, fmt::format("guardrails.rules[].exempt[].until: {}", day.error().message));
    return std::nullopt;
  }

  void text(const YamlNode& node, std::string_view what, std::string& target) {
    if (auto value = yaml_.text(node, what)) target = std::move(*value);
  }

  YamlReader& yaml_;
};

}  // namespace

std::vector<guardrails::GuardrailRule> read_guardrails(YamlReader& reader, const YamlNode& node) {
  return GuardrailReader(reader).read(node);
}

ConfigKeys guardrail_config_keys() {
  return {
      {"guardrails.rules[].name", "text", "", "What the rule is called. Required, and unique."},
      {"guardrails.rules[].mode", "audit, warn, enforce", "enforce",
       "How far it goes: it only records, only warns, or does what its effect says."},
      {"guardrails.rules[].effect", "allow, warn, require_approval, deny", "deny",
       "What becomes of a workload to which it applies. After `allow` later rules don't count."},
      {"guardrails.rules[].reason", "text", "", "Why the rule is there, for who is stopped."},
      {"guardrails.rules[].way_out", "text", "", "What they can do instead."},
      {"guardrails.rules[].when.kind", "pattern, list of patterns", "",
       "Kinds such as `Deployment` or `Slurm job`. All stated conditions must hold."},
      {"guardrails.rules[].when.namespace", "pattern, list of patterns", "", "Namespaces."},
      {"guardrails.rules[].when.name", "pattern, list of patterns", "", "Names of workloads."},
      {"guardrails.rules[].when.label", "mapping", "",
       "Labels with a pattern of their value; of Slurm account, partition, qos, comment, wckey."},
      {"guardrails.rules[].when.label_missing", "text, list of texts", "",
       "One of these labels is missing or empty."},
      {"guardrails.rules[].when.gpu_model", "pattern, list of patterns", "",
       "Models of the GPUs it is priced on, such as `H100*`."},
      {"guardrails.rules[].when.region", "pattern, list of patterns", "", "Regions."},
      {"guardrails.rules[].when.region_not", "pattern, list of patterns", "",
       "It runs in none of these, or its region is not known."},
      {"guardrails.rules[].when.provider", "pattern, list of patterns", "", "Providers."},
      {"guardrails.rules[].when.gpus_above", "number", "",
       "GPUs of all replicas, at most as many as its autoscaler may start."},
      {"guardrails.rules[].when.per_hour_above", "amount", "",
       "Its cost per hour. What is not wholly priced counts as above."},
      {"guardrails.rules[].when.per_run_above", "amount", "",
       "The most that a run costs; a run without a time limit counts as above."},
      {"guardrails.rules[].when.per_month_above", "amount", "",
       "Its cost per month, with as many replicas as its autoscaler may start."},
      {"guardrails.rules[].when.time_above", "duration", "",
       "The time limit of a run; none at all counts as above."},
      {"guardrails.rules[].when.spot", "true, false", "", "Whether it runs on spot machines."},
      {"guardrails.rules[].when.priced", "true, false", "",
       "False: something of it can't be priced."},
      {"guardrails.rules[].exempt[].when", "mapping", "",
       "To which workloads the rule does not apply, by the same conditions; without it, to all."},
      {"guardrails.rules[].exempt[].reason", "text", "", "Why. Required."},
      {"guardrails.rules[].exempt[].until", "date", "", "The last day. Required."},
  };
}

}  // namespace pennyweight
