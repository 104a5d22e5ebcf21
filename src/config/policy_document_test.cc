// The policy document: what it may contain, what it may not, and that guide, example and schema
// agree with the reader.
#include "config/policy_document.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "allocation/policy/default_policy.h"
#include "config/policy_schema.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(PROJECT_ROOT "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

PolicyReading check(std::string_view yaml) {
  return check_policy(yaml, "p.yaml", default_policy());
}

TEST(PolicyDocument, TheExampleOfTheGuideMeansWhatItsRemarksSay) {
  const std::string example = read_text("docs/guide/policy-example.yaml");
  const PolicyReading reading = check(example);
  for (const Problem& problem : reading.problems) ADD_FAILURE() << problem.message;
  const Policy& policy = reading.policy;
  EXPECT_EQ(policy.name, "2026 chargeback");
  EXPECT_EQ(policy.basis, Basis{Basis::Kind::kMax});
  ASSERT_EQ(policy.sharing.size(), 3U);
  EXPECT_EQ(policy.sharing[0].workload,
            (std::vector<LabelMatch>{{"tier", LabelMatch::Op::kIn, {"inference", "serving-*"}}}));
  EXPECT_EQ(policy.sharing[0].weights, (ShareWeights{300, 700}));
  EXPECT_EQ(policy.sharing[0].basis, std::nullopt);
  EXPECT_EQ(policy.sharing[1].gpu_model, "V100-SXM2-16GB");
  EXPECT_EQ(policy.sharing[2].basis, (Basis{Basis::Kind::kBlend, 300}));
  ASSERT_EQ(policy.node_splits.size(), 3U);
  EXPECT_EQ(policy.node_splits[0], (NodeSplitRule{"p5.*", NodeSplit::kWholeNode, {}, {}, {}}));
  EXPECT_EQ(policy.node_splits[1].cpu, parse_exact_decimal("0.9").value());
  EXPECT_EQ(policy.node_splits[2].memory, parse_exact_decimal("0.03").value());
  EXPECT_EQ(policy.usage.interval_ms, 30'000U);
  EXPECT_EQ(policy.usage.hold_ms(), 75'000U);
  ASSERT_EQ(policy.overhead.size(), 2U);
  EXPECT_EQ(policy.overhead[1].op, LabelMatch::Op::kExists);
  ASSERT_EQ(policy.spread.size(), 7U);
  EXPECT_EQ(policy.spread[0].within, SpreadWithin::kNode);
  EXPECT_EQ(policy.spread[0].measure, SpreadMeasure::kGpuTime);
  EXPECT_EQ(policy.spread[1].over, SpreadOver::kMonth);
  EXPECT_EQ(policy.spread[3].named, "tickets of the first quarter");
  EXPECT_EQ(policy.spread[3].parts[2], (FixedPart{"2nd floor", Decimal::from_units(3)}));
  EXPECT_EQ(policy.spread[4].dimension, "client");
  EXPECT_EQ(policy.spread[6].how, Spread::kKeep);
  ASSERT_EQ(policy.owners.size(), 3U);
  EXPECT_EQ(policy.owners[0].priority, 10);
  EXPECT_EQ(policy.owners[1].when[1].op, LabelMatch::Op::kAbsent);
  ASSERT_EQ(policy.dimensions.size(), 3U);
  EXPECT_EQ(policy.dimensions[2], (DimensionRule{"user", {"user", "owner"}, "(none)"}));
  ASSERT_EQ(policy.dimensions[0].derive.size(), 1U);
  EXPECT_EQ(policy.dimensions[0].derive[0].pattern.text(), "customer-([^-]+)-.*");
  EXPECT_EQ(policy.time_zone.name(), "Europe/Berlin");

  EXPECT_NE(read_text("docs/guide/policy.md").find("```yaml\n" + example + "```"),
            std::string::npos)
      << "docs/guide/policy.md shows docs/guide/policy-example.yaml, word for word";
}

TEST(PolicyDocument, WithoutKeysItIsTheDefaults) {
  const PolicyReading reading = check("version: 1\n");
  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.policy, default_policy());
  EXPECT_FALSE(reading.states_dimensions);
  EXPECT_EQ(check("version: 1\noverhead: []\n").policy.overhead.size(), 0U);
  EXPECT_EQ(check("version: 1\ndimensions: {a: {from: [x]}}\n").policy.dimensions.size(), 1U);
}

TEST(PolicyDocument, NodeSplitWithNumbersIsTheLastRule) {
  const Policy policy = check(
                            "version: 1\nnode_split: {ratio: {gpu: 9, vcpu: 1}}\n"
                            "node_splits: [{instance_type: a, split: residual}]\n")
                            .policy;
  ASSERT_EQ(policy.node_splits.size(), 2U);
  EXPECT_EQ(policy.node_splits[1], (NodeSplitRule{"", NodeSplit::kRatio, Decimal::from_units(9),
                                                  Decimal::from_units(1), Decimal()}));
}

TEST(PolicyDocument, RefusesWithPlaceAndReason) {
  const struct {
    const char* yaml;  // follows "version: 1\n", in line 2
    const char* want;
  } kCases[] = {
      {"bases: max", "p.yaml:2:1: policy has no key 'bases'; did you mean 'basis'?"},
      {"basis: most", "p.yaml:2:8: policy.basis is request, usage, max or {blend: 0.3}, not 'mo"},
      {"basis: blend", "p.yaml:2:8: policy.basis is request, usage, max or {blend: 0.3}"},
      {"basis: {blend: 1.1}", "p.yaml:2:16: policy.basis.blend must be from 0 to 1, not 1.1"},
      {"basis: {blend: 0.1234}", "p.yaml:2:16: policy.basis.blend has at most three digits"},
      {"basis: {}", "p.yaml:2:8: policy.basis is request, usage, max or"},
      {"weights: {compute: -1}", "p.yaml:2:20: policy.weights.compute must be a whole number"},
      {"weights: {compute: 0, memory: 0}", "p.yaml:2:10: policy.weights: one of compute and mem"},
      {"sharing: [{cluster: a}]", "p.yaml:2:11: a rule of policy.sharing needs a basis, weights"},
      {"sharing: [{basis: max, weight: 1}]",
       "p.yaml:2:24: policy.sharing[] has no key 'weight'; did you mean 'weights'?"},
      {"sharing: [{weights: {compute: 999983, memory: 0}}, {weights: {compute: 999979, memory: "
       "0}}]",
       "p.yaml:2:52: policy.sharing: the sum"},
      {"node_split: ratio", "p.yaml:2:13: policy.node_split is residual, whole_node, {ratio: {g"},
      {"node_split: {explicit: {gpu: 0.9, cpu: 0.1, memory: 0.000000000000000001}}",
       "p.yaml:2:24: policy.node_split.explicit: the parts must add up to 1, and they are "
       "1.000000000000000001"},
      {"node_split: {ratio: {}}", "p.yaml:2:21: policy.node_split.ratio: one of the prices must"},
      {"node_split: {ratio: {gpu: 1}, explicit: {gpu: 1}}", "p.yaml:2:13: policy.node_split is re"},
      {"node_splits: [{instance_type: a}]", "p.yaml:2:15: a rule of policy.node_splits needs a sp"},
      {"usage: {activity: [sm, sm_active]}",
       "p.yaml:2:20: an item of policy.usage.activity is engine_active, sm_active or gpu_util"},
      {"usage: {activity: [gpu_util, gpu_util]}", "p.yaml:2:30: policy.usage.activity has gpu_uti"},
      {"usage: {interval: 60}",
       "p.yaml:2:19: policy.usage.interval must be a time from 100ms to 1h, written as 250ms, "
       "60s, 5m or 1h, not '60'"},
      {"usage: {interval: 2h}", "p.yaml:2:19: policy.usage.interval must be a time from 100ms to"},
      {"usage: {interval: 99999999999999999999s}", "p.yaml:2:19: policy.usage.interval must be"},
      {"usage: {interval: 9223372036854775807h}", "p.yaml:2:19: policy.usage.interval must be"},
      {"usage: {hold: 0.5}", "p.yaml:2:15: policy.usage.hold must be from 1 to 100, not 0.5"},
      {"usage: {shift: -25h}", "p.yaml:2:16: policy.usage.shift must be a time from -24h to 24h"},
      {"overhead: [{label: a}]", "p.yaml:2:12: an item of policy.overhead needs a label and one"},
      {"overhead: [{label: a, in: []}]", "p.yaml:2:27: policy.overhead[].in is empty, so nothing"},
      {"overhead: [{label: a, in: [x], exists: true}]", "p.yaml:2:12: an item of policy.overhead"},
      {"overhead: [{label: a, exists: yes}]", "p.yaml:2:31: policy.overhead[].exists must be true"},
      {"overhead: [{label: a, in: b}]", "p.yaml:2:27: policy.overhead[].in must be a list, not a"},
      {"spread: [{how: keep}]", "p.yaml:2:10: a rule of policy.spread needs a kind"},
      {"spread: [{kind: shared}]", "p.yaml:2:10: a rule of policy.spread needs how"},
      {"spread: [{kind: used, how: keep}]", "p.yaml:2:17: policy.spread[].kind is held_idle, una"},
      {"spread: [{kind: overhead, how: keep, service_name: x}]",
       "p.yaml:2:52: only kind shared can be restricted by service and category"},
      {"spread: [{kind: overhead, how: even}]",
       "p.yaml:2:10: a rule of policy.spread with how: even needs dimension"},
      {"spread: [{kind: overhead, how: even, dimension: taem}]",
       "p.yaml:2:49: policy.spread[].dimension names the dimension 'taem', which policy.dimensions "
       "does not have; did you mean 'team'?"},
      {"spread: [{kind: overhead, how: fixed, dimension: team}]",
       "p.yaml:2:10: a rule of policy.spread with how: fixed needs parts"},
      {"spread: [{kind: overhead, how: fixed, dimension: team, parts: {}}]",
       "p.yaml:2:63: policy.spread[].parts is empty"},
      {"spread: [{kind: overhead, how: fixed, dimension: team, parts: {a: 0}}]",
       "p.yaml:2:67: the part of 'a' must be more than 0; leave out values that bear nothing"},
      {"spread: [{kind: overhead, how: fixed, dimension: team, parts: {a: -1}}]",
       "p.yaml:2:67: policy.spread[].parts.a must be from 0 to"},
      {"spread: [{kind: overhead, how: proportional, parts: {a: 1}}]",
       "p.yaml:2:53: parts has no meaning with how: proportional; leave it out"},
      {"spread: [{kind: overhead, how: keep, within: node}]",
       "p.yaml:2:46: how: keep moves nothing"},
      {"spread: [{kind: overhead, how: even, dimension: team, measure: {named: x}}]",
       "p.yaml:2:64: a named measure needs how: proportional"},
      {"owners: [{when: []}]",
       "p.yaml:2:10: a rule of policy.owners needs set: {dimension: value}"},
      {"owners: [{set: {squad: a}}]", "p.yaml:2:17: policy.owners[].set names the dimension 'squa"},
      {"owners: [{set: {team: \"\"}}]", "p.yaml:2:23: policy.owners[].set.team is empty"},
      {"owners: [{when: [{label: dimension:squad, exists: true}], set: {team: a}}]",
       "p.yaml:2:17: policy.owners[].when names the dimension 'squad'"},
      {"owners: [{set: {team: a, team: b}}]", "p.yaml:2:26: the key 'team' is here twice"},
      {"dimensions: {a: {from: [x]}, a: {from: [y]}}", "p.yaml:2:30: the key 'a' is here twice"},
      {"dimensions: {cluster: {from: [x]}}", "p.yaml:2:14: 'cluster' is a built-in dimension"},
      {"dimensions: {\"a,b\": {from: [x]}}", "p.yaml:2:14: 'a,b' can't be a dimension's name"},
      {"dimensions: {a: {from: []}}", "p.yaml:2:14: the dimension 'a' needs from: [label, …]"},
      {"dimensions: {a: {from: [x], derive: [{label: y}]}}",
       "p.yaml:2:38: policy.dimensions.NAME.derive[] needs label, matches and value"},
      {"dimensions: {a: {from: [x], derive: [{label: y, matches: \"(\", value: z}]}}",
       "p.yaml:2:58: policy.dimensions.NAME.derive[].matches: '(' is not a regular expression"},
      {"dimensions: {a: {from: [x], derive: [{label: y, matches: b, value: $1}]}}",
       "p.yaml:2:38: policy.dimensions.NAME.derive[].value: $1 asks for a group that 'b' does not"},
      {"time_zone: Mars/Olympus", "p.yaml:2:12: "},
      {"name: \"\\0\"", "p.yaml:2:7: policy.name is not plain text"},
  };
  for (const auto& [yaml, want] : kCases) {
    const auto policy =
        parse_policy(std::string("version: 1\n") + yaml + "\n", "p.yaml", default_policy());
    ASSERT_FALSE(policy) << yaml;
    EXPECT_TRUE(policy.error().message.starts_with(want)) << policy.error().message << "\n" << want;
  }
}

TEST(PolicyDocument, NeedsAVersionThatIsKnown) {
  EXPECT_EQ(check("").problems.at(0).message, "p.yaml:1:1: a policy begins with version: 1");
  EXPECT_EQ(check("basis: max\n").problems.at(0).message,
            "p.yaml:1:1: a policy begins with version: 1");
  EXPECT_EQ(check("version: 2\n").problems.at(0).message,
            "p.yaml:1:10: policy.version is 1, not '2'; a later pennyweight may read it");
  EXPECT_EQ(check("- 1\n").problems.at(0).message,
            "p.yaml:1:1: policy must be a mapping, not a list");
}

TEST(PolicyDocument, ListsHaveLimits) {
  const auto many = [](std::string_view item, std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += item;
    return list;
  };
  const std::string rule = "  - {label: a, exists: true}\n";
  EXPECT_EQ(check("version: 1\noverhead:\n" + many(rule, limits::kPolicyRulesMax + 1))
                .problems[0]
                .message,
            "p.yaml:3:3: policy.overhead has 1001 items; 1000 is the most");
  EXPECT_TRUE(first_error(check("version: 1\noverhead: [{label: a, in: [" +
                                many("x,", limits::kPolicyValuesMax) + "x]}]\n")
                              .problems));
  EXPECT_TRUE(first_error(
      check("version: 1\nname: " + std::string(limits::kLabelValueBytesMax + 1, 'x') + "\n")
          .problems));
  // Of many mistakes only the first ones are reported.
  EXPECT_EQ(check("version: 1\noverhead:\n" + many("  - x\n", 900)).problems.size(),
            limits::kProblemsMax);
  // Warnings never hide a mistake, however many there are.
  EXPECT_TRUE(first_error(
      check("version: 1\noverhead: [{label: a, in: [" + many("a*b,", 500) + "c]}]\nbasis: most\n")
          .problems));
}

TEST(PolicyDocument, WarnsOfWhatNeverDecides) {
  const struct {
    const char* yaml;  // from line 2 on
    const char* want;
  } kCases[] = {
      {"sharing:\n- basis: max\n- {cluster: a, basis: usage}\n",
       "p.yaml:4:3: warning: this rule of policy.sharing never applies: the one in line 3 "
       "comes first and matches everything that it would"},
      {"node_splits:\n- {instance_type: \"p*\", split: residual}\n- {instance_type: p5, split: "
       "whole_node}\n",
       "p.yaml:4:3: warning: this rule of policy.node_splits never"},
      {"overhead:\n- {label: a, in: [x]}\n\n- {label: a, in: [x]}\n",
       "p.yaml:5:3: warning: this rule of policy.overhead never"},
      {"spread:\n- {kind: overhead, how: keep}\n- {kind: overhead, how: proportional}\n",
       "p.yaml:4:3: warning: this rule of policy.spread never"},
      {"owners:\n- set: {team: a}\n- {priority: 1, set: {team: b}}\n",
       "p.yaml:3:3: warning: this rule of policy.owners never applies: the one in line 4"},
      {"overhead:\n- {label: a, in: [\"*-system\"]}\n",
       "p.yaml:3:19: warning: a '*' matches anything only at the end of a name; in '*-system'"},
  };
  for (const auto& [yaml, want] : kCases) {
    const PolicyReading reading = check(std::string("version: 1\n") + yaml);
    ASSERT_EQ(reading.problems.size(), 1U) << yaml;
    EXPECT_TRUE(reading.problems[0].is_warning);
    EXPECT_TRUE(reading.problems[0].message.starts_with(want)) << reading.problems[0].message;
  }
}

// The keys of each object of the schema, by the path of its reader.
class SchemaKeys {
 public:
  explicit SchemaKeys(const YamlNode& root) : root_(root) { walk(root, "policy"); }
  YamlReader::KnownKeys keys;

 private:
  static const YamlNode* find(const YamlNode& node, std::string_view key) {
    for (const YamlNode::Entry& entry : node.entries) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  }

  void walk(const YamlNode& node, const std::string& path) {
    if (const YamlNode* reference = find(node, "$ref")) {
      const std::string prefix = "#/$defs/";
      ASSERT_TRUE(reference->scalar.starts_with(prefix));
      const YamlNode* target = find(*find(root_, "$defs"), reference->scalar.substr(prefix.size()));
      ASSERT_NE(target, nullptr) << reference->scalar;
      walk(*target, path);
    }
    if (const YamlNode* properties = find(node, "properties")) {
      for (const YamlNode::Entry& entry : properties->entries) {
        keys[path].push_back(entry.key);
        walk(entry.value, path + "." + entry.key);
      }
      const YamlNode* others = find(node, "additionalProperties");
      EXPECT_TRUE(others != nullptr && others->scalar == "false") << path;
    }
    if (const YamlNode* items = find(node, "items")) walk(*items, path + "[]");
    if (const YamlNode* named = find(node, "additionalProperties")) walk(*named, path + ".NAME");
    if (const YamlNode* choices = find(node, "oneOf")) {
      for (const YamlNode& choice : choices->items) walk(choice, path);
    }
  }

  const YamlNode& root_;
};

TEST(PolicySchema, HasTheKeysOfTheReaderAndNoOthers) {
  EXPECT_EQ(embedded::policy_schema_json(), read_text("docs/schema/policy.schema.json"));
  const auto root = parse_yaml(embedded::policy_schema_json(), "policy.schema.json");
  ASSERT_TRUE(root) << root.error().message;
  YamlReader::KnownKeys schema = SchemaKeys(*root).keys;

  // Documents that contain each mapping at least once.
  YamlReader::KnownKeys reader;
  for (const std::string& yaml :
       {read_text("docs/guide/policy-example.yaml"),
        std::string("version: 1\nbasis: {blend: 1}\nnode_split: {ratio: {gpu: 1}}\n"),
        std::string("version: 1\nnode_split: {explicit: {gpu: 1}}\n")}) {
    const PolicyReading reading = check(yaml);
    EXPECT_TRUE(reading.problems.empty());
    reader.insert(reading.known_keys.begin(), reading.known_keys.end());
  }
  for (auto* keys : {&schema, &reader}) {
    for (auto& [path, names] : *keys) std::sort(names.begin(), names.end());
  }
  EXPECT_EQ(schema, reader);
}

}  // namespace
}  // namespace pennyweight
