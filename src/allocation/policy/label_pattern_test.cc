#include "allocation/policy/label_pattern.h"

#include <gtest/gtest.h>

#include <map>

namespace pennyweight {
namespace {

TEST(LabelPattern, FillsInGroups) {
  const auto pattern = LabelPattern::parse("team-([a-z]+)(-prod|-dev)?");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->expand("team-nlp-prod", "$1"), "nlp");
  EXPECT_EQ(pattern->expand("team-nlp", "$1$2"), "nlp");
  EXPECT_EQ(pattern->expand("team-nlp-dev", "$$$1 of $0"), "$nlp of team-nlp-dev");
  // The whole value, not a part of it.
  EXPECT_EQ(pattern->expand("my-team-nlp", "$1"), std::nullopt);
  EXPECT_FALSE(pattern->matches("team-nlp-prod2"));
  EXPECT_EQ(pattern->groups(), 2u);
}

TEST(LabelPattern, Refuses) {
  EXPECT_FALSE(LabelPattern::parse(""));
  EXPECT_FALSE(LabelPattern::parse("team-("));
  EXPECT_FALSE(LabelPattern::parse("[z-a]"));
  EXPECT_FALSE(LabelPattern::parse("(a)\\1")) << "back-references can take for ever";
  EXPECT_FALSE(LabelPattern::parse(std::string(kPatternBytesMax + 1, 'a')));
  const auto pattern = LabelPattern::parse("(.*)");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(refuse_template(*pattern, "$1-$$-$0"), std::nullopt);
  EXPECT_TRUE(refuse_template(*pattern, "$2"));
  EXPECT_TRUE(refuse_template(*pattern, "cost$"));
  EXPECT_TRUE(refuse_template(*pattern, "$x"));
  EXPECT_TRUE(refuse_template(*pattern, ""));
}

TEST(LabelPattern, SaysWhatCannotBeMatchedInLinearTime) {
  const struct {
    const char* pattern;
    const char* names;
  } kCases[] = {
      {"(a)\\1", "back-references are not supported"},
      {"(?=a).*", "look-ahead and look-behind are not supported"},
      {"team-(?!x).*", "look-ahead and look-behind are not supported"},
      {".*(?<=a)", "look-ahead and look-behind are not supported"},
  };
  for (const auto& c : kCases) {
    const auto parsed = LabelPattern::parse(c.pattern);
    ASSERT_FALSE(parsed) << c.pattern;
    EXPECT_NE(parsed.error().message.find(c.names), std::string::npos) << parsed.error().message;
  }
}

TEST(LabelPattern, KnowsTheUsualSyntax) {
  const struct {
    const char* pattern;
    const char* value;
  } kMatches[] = {
      {"[[:alpha:]]+\\d{2,3}", "node007"},
      {"(?:a|b)*?c", "abac"},
      {"registry[.]example/.*", "registry.example/x"},
      {"\\w+@\\S+", "ada@example.org"},
      {"^a$", "a"},
      {"gr\xc3\xbcn.*", "gr\xc3\xbcn-1"},
  };
  for (const auto& c : kMatches) {
    const auto pattern = LabelPattern::parse(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern;
    EXPECT_TRUE(pattern->matches(c.value)) << c.pattern;
  }
}

// By trying one way after the other these take 2^4000 steps.
TEST(LabelPattern, IsNeverExponential) {
  for (const char* hostile : {"(a|aa)+(a*)*b", "(a+)+b", "((a*)*)*b", "(.*)*(.*)*(.*)*b",
                              "(a?){500}a{500}b", "(x+x+)+y|(a|a|a)*b"}) {
    const auto pattern = LabelPattern::parse(hostile);
    ASSERT_TRUE(pattern) << hostile;
    EXPECT_FALSE(pattern->matches(std::string(4000, 'a'))) << hostile;
    EXPECT_EQ(pattern->expand(std::string(4000, 'a'), "$1"), std::nullopt) << hostile;
  }
}

TEST(LabelPattern, LongValuesFitTheStack) {
  const auto pattern = LabelPattern::parse("(.*)-(.*)");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->expand(std::string(4000, 'x') + "-y", "$2"), "y");
}

TEST(DeriveRule, FirstThatGivesSomething) {
  const std::vector<DeriveRule> rules = {
      {"image", *LabelPattern::parse(".*/([^/:]+)/[^/]*"), "$1"},
      {"namespace", *LabelPattern::parse("team-(.*)"), "$1"},
      {"namespace", *LabelPattern::parse(".*"), "shared"},
  };
  const auto of = [&](std::map<std::string, std::string> labels) {
    return derive(rules, [&](std::string_view key) -> std::optional<std::string_view> {
      const auto found = labels.find(std::string(key));
      if (found == labels.end()) return std::nullopt;
      return found->second;
    });
  };
  EXPECT_EQ(of({{"image", "registry.example/nlp/train:1"}, {"namespace", "team-x"}}), "nlp");
  EXPECT_EQ(of({{"image", "train:1"}, {"namespace", "team-x"}}), "x");
  EXPECT_EQ(of({{"namespace", "team-"}}), "shared");
  EXPECT_EQ(of({{"account", "a"}}), std::nullopt);
}

TEST(DeriveRule, GivesNothingThatNoLabelCanBe) {
  const auto lookup = [](std::string value) {
    return [value](std::string_view) -> std::optional<std::string_view> { return value; };
  };
  const std::vector<DeriveRule> first_byte = {{"x", *LabelPattern::parse("(.).*"), "$1"}};
  EXPECT_EQ(derive(first_byte, lookup("abc")), "a");
  EXPECT_EQ(derive(first_byte, lookup("\xc3\xa4"
                                      "b")),
            std::nullopt);  // half of an umlaut
  const std::vector<DeriveRule> twice = {{"x", *LabelPattern::parse("(.*)"), "$1$1"}};
  EXPECT_EQ(derive(twice, lookup(std::string(3000, 'a'))), std::nullopt);
}

}  // namespace
}  // namespace pennyweight
