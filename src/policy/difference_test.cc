// Two policies side by side, and a policy in words.
#include "policy/difference.h"

#include <gtest/gtest.h>

#include "policy/default_policy.h"
#include "policy/in_words.h"

namespace pennyweight {
namespace {

using Side = DifferentLine::Side;

std::vector<std::string> sentences(const Policy& policy, std::string_view title) {
  for (PolicySection& section : policy_in_words(policy)) {
    if (section.title == title) return std::move(section.sentences);
  }
  return {};
}

TEST(DifferentLines, AreAsFewAsThereCanBe) {
  const std::vector<std::string> one = {"a", "b", "c", "d"};
  const std::vector<std::string> two = {"a", "c", "x", "d"};
  EXPECT_EQ(different_lines(one, two),
            (std::vector<DifferentLine>{{Side::kBefore, "b"}, {Side::kAfter, "x"}}));
  EXPECT_EQ(different_lines(one, one), std::vector<DifferentLine>{});
  EXPECT_EQ(different_lines({}, two).size(), 4U);
  EXPECT_EQ(different_lines(one, {}).size(), 4U);
}

TEST(Difference, NamesTheRuleInWordsAndInText) {
  const Policy before = default_policy();
  EXPECT_EQ(difference(before, before), PolicyDifference());
  Policy after = before;
  after.basis.kind = Basis::Kind::kRequest;
  const PolicyDifference found = difference(before, after);
  EXPECT_EQ(found.text, (std::vector<DifferentLine>{{Side::kBefore, "basis: max"},
                                                    {Side::kAfter, "basis: request"}}));
  ASSERT_EQ(found.in_words.size(), 2U);
  EXPECT_EQ(found.in_words[0].title, "What a holder is charged by");
  EXPECT_EQ(found.in_words[1].title, "How telemetry is read") << "which no longer decides";
  EXPECT_EQ(found.in_words[0].lines[0].line,
            "At every moment, and for a card's compute and its memory each, a holder is charged by "
            "the larger of what it asked for and what it was seen to use.");
}

TEST(InWords, FillsInTheNumbers) {
  Policy policy = default_policy();
  policy.weights = {300, 701};
  policy.basis = {Basis::Kind::kBlend, 250};
  const auto weights = sentences(policy, "What a share of a card costs");
  EXPECT_EQ(weights[0],
            "A holder's weight is 300 × its share of the card's compute + 701 × its share of the "
            "card's memory; a whole card weighs 1001.");
  // 300 / 2 + 701 / 4 = 150 + 175.25.
  EXPECT_EQ(weights[1],
            "It pays the card's cost × its weight ÷ 1001. Half of the compute and a quarter of the "
            "memory weigh 300 × 1/2 + 701 × 1/4 = 325.25, so they cost 325.25/1001 of the card.");
  EXPECT_EQ(sentences(policy, "What a holder is charged by")[0],
            "At every moment, and for a card's compute and its memory each, a holder is charged by "
            "0.25 × what it asked for + 0.75 × what it was seen to use.");
  EXPECT_EQ(sentences(policy, "How telemetry is read")[1],
            "A device is expected to be seen every 60s; what was seen holds until the next time, "
            "and 2.5 intervals (150s) at most. Time behind that is unobserved.");
}

TEST(InWords, OwnersByPriority) {
  Policy policy;
  policy.owners = {
      {1, {}, {{"team", "platform"}}},
      {5,
       {{"namespace", LabelMatch::Op::kIn, {"ml-*", "nlp"}}, {"env", LabelMatch::Op::kAbsent, {}}},
       {{"team", "ml"}, {"client", "us"}}}};
  policy.dimensions = {{"team", {"team", "account"}, "(unowned)"}};
  EXPECT_EQ(sentences(policy, "Whose a workload is"),
            (std::vector<std::string>{
                "Workloads whose label namespace is anything that begins with 'ml-' or 'nlp' and "
                "without a label env have the team 'ml' and the client 'us' (priority 5).",
                "All workloads have the team 'platform' (priority 1).",
                "Else the team is the label team or else account; a workload without has "
                "'(unowned)'."}));
}

TEST(InWords, SaysWhatBecomesOfWhatNobodyUses) {
  Policy policy;
  EXPECT_EQ(sentences(policy, "What becomes of idle, overhead and shared cost"),
            (std::vector<std::string>{"All of it stays where it is, in lines of its own."}));
  SpreadRule tax;
  tax.kind = PostingKind::kShared;
  tax.charge_category = "Tax";
  tax.how = Spread::kFixed;
  tax.dimension = "team";
  tax.parts = {{"nlp", Decimal::from_units(2)}, {"cv", Decimal::from_units(1)}};
  SpreadRule idle;
  idle.how = Spread::kProportional;
  idle.within = SpreadWithin::kPool;
  policy.spread = {tax, idle};
  EXPECT_EQ(
      sentences(policy, "What becomes of idle, overhead and shared cost"),
      (std::vector<std::string>{
          "What is not of a node (shared), of the charge category 'Tax', goes to each team in "
          "fixed parts: nlp 2 and cv 1.",
          "What nobody held (unallocated) is spread over the holders of the same day in the "
          "same pool, by what they pay for GPUs.",
          "All else stays where it is, in lines of its own."}));
}

}  // namespace
}  // namespace pennyweight
