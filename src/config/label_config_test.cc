#include "config/label_config.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

TEST(LabelConfig, WithoutItTheUsualKeysAreRequired) {
  const auto config = parse_config("threads: 1", "c.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->labels, default_label_policy());
  ASSERT_EQ(config->labels.required.size(), 3U);
  EXPECT_EQ(config->labels.required[0].key, "project-id");
  EXPECT_EQ(config->labels.required[2].dimension, "user");
  const auto empty = parse_config("labels: {required: []}", "c.yaml");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->labels.required.empty());
}

TEST(LabelConfig, ReadsEveryKey) {
  const auto config = parse_config(R"(labels:
  in_force_from: 2026-02-01
  required:
    - user-id
    - key: cost-centre
      labels: [cost-centre, "example.org/cost-centre"]
      derive:
        - {label: namespace, matches: "cc-([0-9]+)-.*", value: $1}
      dimension: client
      allowed: ["10*", "none"]
      allowed_pattern: "[0-9]{4}"
      in_force_from: 2026-03-15
    - {key: team-id, dimension: ""}
    - tier
)",
                                   "c.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const Date february = *parse_date("2026-02-01");
  LabelRequirement user = default_requirement("user-id");
  user.in_force_from = february;
  LabelRequirement team = default_requirement("team-id");
  team.dimension = "";
  team.in_force_from = february;
  LabelRequirement tier{.key = "tier", .labels = {"tier"}};
  tier.in_force_from = february;
  const LabelRequirement centre{
      .key = "cost-centre",
      .labels = {"cost-centre", "example.org/cost-centre"},
      .derive = {{"namespace", *LabelPattern::parse("cc-([0-9]+)-.*"), "$1"}},
      .dimension = "client",
      .allowed = {"10*", "none"},
      .allowed_pattern = *LabelPattern::parse("[0-9]{4}"),
      .in_force_from = *parse_date("2026-03-15")};
  EXPECT_EQ(config->labels, (LabelPolicy{{user, centre, team, tier}}));
}

TEST(LabelConfig, RefusesWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"labels: {required: [{labels: [a]}]}", "c.yaml:1:21: a required label needs a key"},
      {"labels: {required: [a, {key: a}]}", "c.yaml:1:24: the label 'a' is required twice"},
      {"labels: {in_force_from: soon}", "c.yaml:1:25: labels.in_force_from: "},
      {"labels: {required: [{key: a, allowed_pattern: '['}]}",
       "c.yaml:1:47: labels.required[].allowed_pattern: '[' is not a regular expression"},
      {"labels: {required: [{key: a, from: [b]}]}", "c.yaml:1:30: labels.required[] has no key"},
      {"labels: {required: [{key: a, derive: [{label: b, matches: c, value: $1}]}]}",
       "c.yaml:1:39: labels.required[].derive[].value: $1 asks for a group that 'c' does not"},
  };
  for (const auto& [yaml, want] : cases) {
    const auto config = parse_config(yaml, "c.yaml");
    ASSERT_FALSE(config) << yaml;
    EXPECT_TRUE(config.error().message.starts_with(want)) << config.error().message;
  }
}

}  // namespace
}  // namespace pennyweight
