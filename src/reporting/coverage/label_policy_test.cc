#include "reporting/coverage/label_policy.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

Labels labels(std::initializer_list<std::pair<const char*, const char*>> entries) {
  Labels all;
  for (const auto& [key, value] : entries) EXPECT_TRUE(all.set(key, value));
  return all;
}

TEST(LabelPolicy, StatedBeforeDerivedBeforeDimension) {
  LabelRequirement project = default_requirement("project-id");
  project.derive = {{"namespace", *LabelPattern::parse("p-(.*)"), "$1"}};
  using enum LabelStatus;
  const auto of = [&](const Labels& has, std::optional<std::string_view> dimension) {
    return evaluate_label(project, has, dimension);
  };
  EXPECT_EQ(of(labels({{"project-id", "x"}, {"account", "y"}}), "z"),
            (LabelEvaluation{kStated, "x"}));
  EXPECT_EQ(of(labels({{"project-id", ""}, {"account", "y"}}), "z"),
            (LabelEvaluation{kStated, "y"}));
  EXPECT_EQ(of(labels({{"namespace", "p-web"}}), "z"), (LabelEvaluation{kDerived, "web"}));
  EXPECT_EQ(of(labels({{"namespace", "web"}}), "z"), (LabelEvaluation{kDerived, "z"}));
  EXPECT_EQ(of(labels({{"namespace", "web"}}), ""), (LabelEvaluation{kMissing, ""}));
  EXPECT_EQ(of({}, std::nullopt), (LabelEvaluation{kMissing, ""}));
}

TEST(LabelPolicy, OnlyAllowedValuesCount) {
  LabelRequirement team{.key = "team-id", .labels = {"team"}};
  team.allowed = {"nlp", "guest-*"};
  team.allowed_pattern = *LabelPattern::parse("t[0-9]+");
  team.derive = {{"namespace", *LabelPattern::parse(".*"), "nlp"}};
  using enum LabelStatus;
  for (const char* value : {"nlp", "guest-7", "t12"}) {
    EXPECT_EQ(evaluate_label(team, labels({{"team", value}}), {}).status, kStated) << value;
  }
  // A wrong word of somebody is not repaired by a rule.
  for (const char* value : {"NLP", "nlp2", "t", "guest"}) {
    EXPECT_EQ(evaluate_label(team, labels({{"team", value}, {"namespace", "n"}}), {}),
              (LabelEvaluation{kNotAllowed, value}))
        << value;
  }
  EXPECT_EQ(evaluate_label(team, labels({{"namespace", "n"}}), {}),
            (LabelEvaluation{kDerived, "nlp"}));
  EXPECT_EQ(evaluate_label(team, {}, "vision"), (LabelEvaluation{kNotAllowed, "vision"}));
}

}  // namespace
}  // namespace pennyweight
