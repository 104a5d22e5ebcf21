// Conditions on labels: each form against a workload that has the label, has another value, or has
// it not at all.
#include "allocation/policy/label_match.h"

#include <gtest/gtest.h>

#include <map>

namespace pennyweight {
namespace {

using Op = LabelMatch::Op;

LabelLookup labels(const std::map<std::string, std::string>& of) {
  return [&of](std::string_view key) -> std::optional<std::string_view> {
    const auto found = of.find(std::string(key));
    if (found == of.end()) return std::nullopt;
    return found->second;
  };
}

TEST(LabelMatch, EachFormAgainstEachKindOfWorkload) {
  const std::map<std::string, std::string> listed = {{"tier", "gold"}};
  const std::map<std::string, std::string> other = {{"tier", "iron"}};
  const std::map<std::string, std::string> empty = {{"tier", ""}};
  const std::map<std::string, std::string> none = {{"team", "gold"}};
  const struct {
    LabelMatch match;
    bool listed, other, empty, none;
  } kCases[] = {
      {{"tier", Op::kExists, {}}, true, true, true, false},
      {{"tier", Op::kAbsent, {}}, false, false, false, true},
      {{"tier", Op::kIn, {"gold", "silver"}}, true, false, false, false},
      {{"tier", Op::kIn, {"g*"}}, true, false, false, false},
      {{"tier", Op::kIn, {"*"}}, true, true, true, false},
      {{"tier", Op::kIn, {""}}, false, false, true, false},
      {{"tier", Op::kIn, {}}, false, false, false, false},
      // A workload without the label is not one that has another value of it.
      {{"tier", Op::kNotIn, {"gold"}}, false, true, true, false},
      {{"tier", Op::kNotIn, {}}, true, true, true, false},
  };
  for (const auto& [match, in_listed, in_other, in_empty, in_none] : kCases) {
    EXPECT_EQ(matches(match, labels(listed)), in_listed);
    EXPECT_EQ(matches(match, labels(other)), in_other);
    EXPECT_EQ(matches(match, labels(empty)), in_empty);
    EXPECT_EQ(matches(match, labels(none)), in_none);
  }
}

TEST(LabelMatch, AllOfNoneIsTrueAndAnyOfNoneIsFalse) {
  const std::map<std::string, std::string> of = {{"tier", "gold"}, {"team", "nlp"}};
  const std::vector<LabelMatch> both = {{"tier", Op::kIn, {"gold"}}, {"team", Op::kIn, {"nlp"}}};
  const std::vector<LabelMatch> one = {{"tier", Op::kIn, {"iron"}}, {"team", Op::kIn, {"nlp"}}};
  EXPECT_TRUE(matches_all(both, labels(of)));
  EXPECT_FALSE(matches_all(one, labels(of)));
  EXPECT_TRUE(matches_all({}, labels(of)));
  EXPECT_TRUE(matches_any(one, labels(of)));
  EXPECT_FALSE(matches_any({}, labels(of)));
}

TEST(LabelMatch, AStarStandsForAnyRestAtTheEndOnly) {
  EXPECT_TRUE(meets_pattern("nvidia-driver", "nvidia-*"));
  EXPECT_TRUE(meets_pattern("nvidia-", "nvidia-*"));
  EXPECT_FALSE(meets_pattern("nvidia", "nvidia-*"));
  EXPECT_TRUE(meets_pattern("", "*"));
  EXPECT_TRUE(meets_pattern("a*b", "a*b"));
  EXPECT_FALSE(meets_pattern("axb", "a*b"));
  EXPECT_TRUE(meets_pattern("a*b", "a**"));
  EXPECT_FALSE(meets_pattern("NVIDIA-x", "nvidia-*"));
}

}  // namespace
}  // namespace pennyweight
