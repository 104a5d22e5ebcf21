// Filters, dimensions and dates in words.
#include "reporting/queries/selection.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

const Policy kSelectionPolicy = default_config().policy;

TEST(ParseDimensions, KnowsBuiltInOnesAndThoseOfThePolicy) {
  EXPECT_EQ(parse_dimensions({"team,cluster", "node"}, kSelectionPolicy).value(),
            (std::vector<std::string>{"team", "cluster", "node"}));
  for (const char* bad : {"", "taem", "team,", "team,team", "Team"}) {
    const auto parsed = parse_dimensions({bad}, kSelectionPolicy);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadValue);
  }
}

TEST(ParseFilter, AScopeIsOfDimensionsThatThereAre) {
  EXPECT_TRUE(check_scope_dimensions({}, kSelectionPolicy));
  EXPECT_TRUE(check_scope_dimensions({{"team", {"nlp"}, false}, {"cluster", {"a"}, false}},
                                     kSelectionPolicy));
  const auto wrong =
      check_scope_dimensions({{"team", {"a"}, false}, {"taem", {"b"}, false}}, kSelectionPolicy);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("there is no dimension 'taem'"), std::string::npos);
}

TEST(ParseFilter, TakesValuesTheirNegationAndKindsInParentheses) {
  const auto several = parse_filter("team=nlp,cv", kSelectionPolicy).value();
  ASSERT_EQ(several.size(), 1U);
  EXPECT_EQ(several[0].values, (std::vector<std::string>{"nlp", "cv"}));
  EXPECT_FALSE(several[0].negate);
  EXPECT_TRUE(parse_filter("team!=nlp", kSelectionPolicy).value()[0].negate);
  EXPECT_EQ(parse_filter("job=a=b", kSelectionPolicy).value()[0].values[0], "a=b");

  EXPECT_EQ(parse_filter(R"(team=a\,b,c)", kSelectionPolicy).value()[0].values,
            (std::vector<std::string>{"a,b", "c"}));
  EXPECT_EQ(parse_filter(R"(team=a\,b)", kSelectionPolicy).value()[0].values[0], "a,b");
  EXPECT_EQ(parse_filter(R"(user=corp\ann)", kSelectionPolicy).value()[0].values[0], R"(corp\ann)");
  EXPECT_EQ(split_list(R"(x\\,y\)"), (std::vector<std::string>{R"(x\)", R"(y\)"}));

  EXPECT_EQ(parse_filter(R"(cluster=a\,kind=used)", kSelectionPolicy).value()[0].values[0],
            "a,kind=used");
  EXPECT_EQ(parse_filter("team=a,x=y", kSelectionPolicy).value()[0].values.size(), 2U);

  const auto idle = parse_filter("team=(unallocated)", kSelectionPolicy).value();
  ASSERT_EQ(idle.size(), 2U);
  EXPECT_EQ(idle[0].values, std::vector<std::string>{""});
  EXPECT_EQ(idle[1].dimension, "kind");
  EXPECT_EQ(idle[1].values, std::vector<std::string>{"unallocated"});
  // Not a kind, so a value like any other: the fallback of a rule.
  EXPECT_EQ(parse_filter("team=(unowned)", kSelectionPolicy).value()[0].values[0], "(unowned)");
  for (const char* bad : {"", "team", "=x", "taem=x", "team=(unallocated),nlp",
                          "cluster=a,kind=used", "team=a,kind!=used"}) {
    EXPECT_FALSE(parse_filter(bad, kSelectionPolicy)) << bad;
  }
}

TEST(SelectDates, AreInclusiveDaysOrABillsMonth) {
  SummaryQuery query;
  ASSERT_TRUE(apply_dates({.month = "", .from = "2026-03-01", .to = "2026-03-31"}, query));
  EXPECT_EQ(*query.last_day - *query.first_day, std::chrono::days(30));
  query = {};
  ASSERT_TRUE(apply_dates({.month = "2026-03", .from = "", .to = ""}, query));
  EXPECT_EQ(query.filters.at(0).values, std::vector<std::string>{"2026-03"});
  for (const auto& bad : {DateOptions{"2026-3", "", ""}, DateOptions{"2026-13", "", ""},
                          DateOptions{"", "2026-02-30", ""}, DateOptions{"", "01.03.2026", ""},
                          DateOptions{"", "2026-03-02", "2026-03-01"}}) {
    SummaryQuery refused;
    EXPECT_FALSE(apply_dates(bad, refused)) << bad.month << bad.from;
  }
}

}  // namespace
}  // namespace pennyweight
