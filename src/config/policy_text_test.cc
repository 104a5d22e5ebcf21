// A policy survives conversion to text and back, whatever it contains.
#include "config/policy_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "allocation/policy/default_policy.h"
#include "config/policy_document.h"

namespace pennyweight {
namespace {

// Plain text of difficult characters: quotes, control characters, characters with a meaning in
// YAML, Unicode line ends, and characters of one to four bytes.
std::string any_text(std::size_t characters_min, std::size_t characters_max) {
  static const std::vector<std::string> kPieces = {
      "a",  "Z",      "7",      "-",      " ",      ":",   "#",          "\"",    "'",  "\\",
      "*",  "&",      "!",      "{",      "]",      ",",   "\n",         "\r",    "\t", "\x01",
      "%",  "\u0085", "\u2028", "\uFEFF", "é",      "日",  "\U0001F600", "\x7f",  "|",  "null",
      "no", "~",      "=",      "@",      "\u00A0", "...", "---",        "\uFFFF"};
  const auto count = *rc::gen::inRange(characters_min, characters_max + 1);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += *rc::gen::elementOf(kPieces);
  return text;
}

// A rule's condition: empty for any, and never "*", which is read as any.
std::string any_pattern() {
  const std::string text = any_text(0, 6);
  return text == "*" ? "p5.*" : text;
}

std::uint32_t below(std::uint32_t end) { return *rc::gen::inRange<std::uint32_t>(0, end); }

LabelMatch any_match() {
  LabelMatch match;
  match.key = any_text(1, 8);
  match.op = static_cast<LabelMatch::Op>(below(4));
  if (match.op == LabelMatch::Op::kIn || match.op == LabelMatch::Op::kNotIn) {
    for (std::uint32_t i = 0; i <= below(3); ++i) match.values.push_back(any_text(1, 8));
  }
  return match;
}

std::vector<LabelMatch> any_matches() {
  std::vector<LabelMatch> matches(below(3));
  for (LabelMatch& match : matches) match = any_match();
  return matches;
}

Basis any_basis() {
  Basis basis;
  basis.kind = static_cast<Basis::Kind>(below(4));
  if (basis.kind == Basis::Kind::kBlend) basis.request_permille = below(1001);
  return basis;
}

// All have the same sum, so that they can be compared.
ShareWeights any_weights() {
  const std::uint32_t compute = below(1001);
  return {compute, 1000 - compute};
}

NodeSplitRule any_split() {
  NodeSplitRule rule{any_pattern(), static_cast<NodeSplit>(below(4)), {}, {}, {}};
  const auto ticks = [&] { return *rc::gen::inRange<std::int64_t>(1, Decimal::kTicksPerUnit / 2); };
  if (rule.how == NodeSplit::kRatio) {
    rule.gpu = Decimal::from_ticks(Int128{ticks()} * 1000);
    rule.memory = Decimal::from_ticks(ticks());
  } else if (rule.how == NodeSplit::kExplicit) {
    const std::int64_t cpu = ticks();
    const std::int64_t memory = ticks();
    rule.cpu = Decimal::from_ticks(cpu);
    rule.memory = Decimal::from_ticks(memory);
    rule.gpu = Decimal::from_ticks(Decimal::kTicksPerUnit - cpu - memory);
  }
  return rule;
}

std::vector<DimensionRule> any_dimensions() {
  std::vector<DimensionRule> rules;
  for (const char* name : {"Kostenstelle", "null", "team", "équipe 2"}) {
    DimensionRule rule{name, {}, any_text(0, 6)};
    for (std::uint32_t i = 0; i <= below(3); ++i) rule.labels.push_back(any_text(1, 6));
    if (below(3) > 0) rules.push_back(std::move(rule));
  }
  return rules;
}

SpreadRule any_spread(const std::vector<DimensionRule>& dimensions) {
  SpreadRule rule;
  rule.kind = static_cast<PostingKind>(1 + below(6));
  if (rule.kind == PostingKind::kShared) {
    rule.service_category = any_pattern();
    rule.service_name = any_pattern();
    rule.charge_category = any_pattern();
  }
  rule.how = static_cast<Spread>(dimensions.empty() ? below(2) : below(4));
  if (rule.how == Spread::kKeep) return rule;
  rule.within = static_cast<SpreadWithin>(below(3));
  rule.over = static_cast<SpreadOver>(below(2));
  rule.measure = static_cast<SpreadMeasure>(below(6));
  if (rule.how == Spread::kProportional && !dimensions.empty() && below(2) == 0) {
    rule.measure = SpreadMeasure::kNamed;
    rule.named = any_text(1, 6);
  }
  if (rule.needs_dimension()) rule.dimension = (*rc::gen::elementOf(dimensions)).dimension;
  if (!rule.needs_parts()) return rule;
  for (std::uint32_t i = 0; i <= below(4); ++i) {
    const std::string value = any_text(1, 6) + std::to_string(i);
    rule.parts.push_back({value, Decimal::from_ticks(Int128{1 + below(1'000'000)} * 1'000'003)});
  }
  return rule;
}

OwnerRule any_owner(const std::vector<DimensionRule>& dimensions) {
  OwnerRule rule;
  rule.priority = static_cast<std::int32_t>(below(2001)) - 1000;
  rule.when = any_matches();
  if (below(4) == 0) {
    rule.when.push_back({"dimension:" + dimensions[0].dimension, LabelMatch::Op::kExists, {}});
  }
  const std::size_t first = below(static_cast<std::uint32_t>(dimensions.size()));
  for (std::size_t i = first; i < dimensions.size(); ++i) {
    rule.set.emplace_back(dimensions[i].dimension, any_text(1, 8));
  }
  return rule;
}

Policy any_policy() {
  Policy policy;
  policy.name = any_text(0, 12);
  policy.basis = any_basis();
  policy.weights = any_weights();
  policy.sharing.resize(below(3));
  for (SharingRule& rule : policy.sharing) {
    rule = {any_pattern(), any_pattern(), any_matches(), {}, {}};
    const std::uint32_t states = 1 + below(3);
    if ((states & 1) != 0) rule.basis = any_basis();
    if ((states & 2) != 0) rule.weights = any_weights();
  }
  policy.node_split = static_cast<NodeSplit>(below(2));
  policy.node_splits.resize(below(3));
  for (NodeSplitRule& rule : policy.node_splits) rule = any_split();
  auto& activity = policy.usage.activity;
  std::rotate(activity.begin(), activity.begin() + below(3), activity.end());
  activity.resize(below(4));
  policy.usage.interval_ms = 100 + below(3'599'901);
  policy.usage.hold_permille = 1000 + below(99'001);
  policy.usage.shift_ms = *rc::gen::inRange<std::int64_t>(-86'400'000, 86'400'001);
  policy.overhead = any_matches();
  policy.dimensions = any_dimensions();
  policy.spread.resize(below(4));
  for (SpreadRule& rule : policy.spread) rule = any_spread(policy.dimensions);
  if (!policy.dimensions.empty()) {
    policy.owners.resize(below(3));
    for (OwnerRule& rule : policy.owners) rule = any_owner(policy.dimensions);
  }
  if (below(2) == 0) policy.time_zone = TimeZone::parse("America/Los_Angeles").value();
  return policy;
}

RC_GTEST_PROP(PolicyText, ReadsBackToTheSamePolicy, ()) {
  const Policy policy = any_policy();
  const std::string text = policy.text();
  RC_LOG() << text;
  const auto again = parse_policy(text, "text", default_policy());
  if (!again) RC_FAIL(again.error().message);
  RC_ASSERT(*again == policy);
  RC_ASSERT(again->text() == text);
  RC_ASSERT(parse_policy_text(text).value() == policy);
}

TEST(PolicyText, OfTheDefaults) {
  const Policy policy = default_policy();
  EXPECT_EQ(parse_policy_text(policy.text()).value(), policy);
  EXPECT_EQ(policy.text().substr(0, 30), "version: 1\nname: \"\"\nbasis: max");
}

TEST(PolicyText, TheOrderOfDimensionsDecidesNothing) {
  Policy one = default_policy();
  Policy two = one;
  std::reverse(two.dimensions.begin(), two.dimensions.end());
  EXPECT_EQ(one.text(), two.text());
  EXPECT_EQ(one.version(), two.version());
}

TEST(PolicyText, RefusesWhatItDoesNotKnow) {
  const std::string text = default_policy().text();
  for (const std::string& other :
       {std::string(), std::string("basis: usage\n"), std::string("weights: {}\n"),
        // As written before policies had a `version`.
        std::string("weights: {compute: 500, memory: 500}\nnode_split: residual\ntime_zone: UTC\n"
                    "dimensions:\n  team: {from: [team], fallback: (unowned)}\n"),
        text + "# a remark\n", text + "more: 1\n", "version: 2\n" + text.substr(11)}) {
    const auto policy = parse_policy_text(other);
    ASSERT_FALSE(policy) << other;
    EXPECT_EQ(policy.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(policy.error().message,
              "the run's policy was written by another version of pennyweight; allocate again");
  }
}

}  // namespace
}  // namespace pennyweight
