#include "app/cli/guard_cases.h"

#include <algorithm>
#include <utility>

#include "config/alert_config.h"
#include "config/yaml_reader.h"
#include "core/date.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kGuardCasesMax = 10'000;

// The manifest may be longer than a text of a configuration.
void read_case_text(YamlReader& yaml, const YamlNode& node, std::string_view what,
                    std::string& target) {
  if (yaml.is(node, YamlNode::Kind::kScalar, what)) target = node.scalar;
}

void read_guard_case(YamlReader& yaml, const YamlNode& node, std::vector<GuardCase>& cases) {
  GuardCase one;
  one.line = node.line;
  bool states_expectation = false;  // a wrong one has been refused by its own
  yaml.mapping(
      node, "cases[]",
      {{"name", [&](const YamlNode& at) { read_case_text(yaml, at, "cases[].name", one.name); }},
       {"manifest",
        [&](const YamlNode& at) { read_case_text(yaml, at, "cases[].manifest", one.manifest); }},
       {"expect",
        [&](const YamlNode& at) {
          states_expectation = true;
          const auto which = yaml.choice(at, "cases[].expect", guardrails::kDecisionWords);
          if (which) one.expected = static_cast<guardrails::Decision>(*which);
        }},
       {"rules",
        [&](const YamlNode& at) { one.rules = yaml.texts(at, "cases[].rules", kGuardCasesMax); }},
       {"now",
        [&](const YamlNode& at) {
          const auto hours =
              parse_week_hours(yaml.any_text(at, "cases[].now").value_or("") + "-24:00");
          if (!hours || std::ranges::count(hours->days, true) != 1) {
            yaml.refuse(at, "cases[].now is a day and a time such as sat 22:15");
            return;
          }
          const auto day = std::ranges::find(hours->days, true) - hours->days.begin();
          one.now = {.weekday = static_cast<int>(day), .minute = hours->from_minutes};
        }},
       {"budgets",
        [&](const YamlNode& at) {
          if (!yaml.is(at, YamlNode::Kind::kMapping, "cases[].budgets")) return;
          for (const YamlNode::Entry& entry : at.entries) {
            const auto used = yaml.percent(entry.value, "cases[].budgets." + entry.key, 1000);
            if (used) one.budgets_used[entry.key] = *used;
          }
        }},
       {"today", [&](const YamlNode& at) {
          read_case_text(yaml, at, "cases[].today", one.today);
          if (!parse_date(one.today)) yaml.refuse(at, "cases[].today is a day such as 2026-03-31");
        }}});
  if (one.name.empty() || one.manifest.empty() || !states_expectation) {
    return yaml.refuse(node, "a case needs name, manifest and expect");
  }
  cases.push_back(std::move(one));
}

}  // namespace

Result<std::vector<GuardCase>> parse_guard_cases(std::string_view text, const std::string& name) {
  const YamlNode root = TRY(parse_yaml(text, name));
  YamlReader yaml(name);
  std::vector<GuardCase> cases;
  yaml.mapping(root, "the file of cases",
               {{"cases", [&](const YamlNode& list) {
                   yaml.sequence(list, "cases", kGuardCasesMax,
                                 [&](const YamlNode& item) { read_guard_case(yaml, item, cases); });
                 }}});
  const auto problems = yaml.problems();
  if (const auto error = first_error(problems)) return std::unexpected(*error);
  if (cases.empty()) return fail(ErrorCode::kConfig, name + ": has no cases");
  return cases;
}

}  // namespace pennyweight
