// Two policies side by side, and a policy in words.
#include "allocation/policy/difference.h"

#include <gtest/gtest.h>

#include "allocation/policy/default_policy.h"
#include "allocation/policy/in_words.h"

namespace pennyweight {
namespace {

using Side = ChangedLine::Side;

std::vector<std::string> sentences(const Policy& policy, std::string_view title) {
  for (PolicySection& section : policy_in_words(policy)) {
    if (section.title == title) return std::move(section.sentences);
  }
  return {};
}

TEST(DifferentLines, AreAsFewAsThereCanBe) {
  const std::vector<std::string> one = {"a", "b", "c", "d"};
  const std::vector<std::string> two = {"a", "c", "x", "d"};
  EXPECT_EQ(diff_lines(one, two),
            (std::vector<ChangedLine>{{Side::kBefore, "b"}, {Side::kAfter, "x"}}));
  EXPECT_EQ(diff_lines(one, one), std::vector<ChangedLine>{});
  EXPECT_EQ(diff_lines({}, two).size(), 4U);
  EXPECT_EQ(diff_lines(one, {}).size(), 4U);
}

TEST(Difference, NamesTheRuleInWordsAndInText) {
  const Policy before = default_policy();
  EXPECT_EQ(diff_policies(before, before), PolicyDifference());
  Policy after = before;
  after.basis.kind = Basis::Kind::kRequest;
  const PolicyDifference found = diff_policies(before, after);
  EXPECT_EQ(found.text, (std::vector<ChangedLine>{{Side::kBefore, "basis: max"},
                                                  {Side::kAfter, "basis: request"}}));
  ASSERT_EQ(found.in_words.size(), 2U);
  EXPECT_EQ(found.in_words[0].title, "What a holder is charged by");
  EXPECT_EQ(found.in_words[1].title, "How telemetry is read") << "which no longer decides";
  EXPECT_EQ(found.in_words[0].lines[0].line,
            "At every moment, for a GPU's compute and for its memory, a holder is charged by the "
            "larger of its request and its observed usage.");
}

TEST(InWords, FillsInTheNumbers) {
  Policy policy = default_policy();
  policy.weights = {300, 701};
  policy.basis = {Basis::Kind::kBlend, 250};
  const auto weights = sentences(policy, "What a share of a GPU costs");
  EXPECT_EQ(weights[0],
            "A holder's weight is 300 × its share of the GPU's compute + 701 × its share of the "
            "GPU's memory; a whole GPU weighs 1001.");
  // 300 / 2 + 701 / 4 = 150 + 175.25.
  EXPECT_EQ(weights[1],
            "It pays the GPU's cost × its weight ÷ 1001. Half of the compute and a quarter of the "
            "memory weigh 300 × 1/2 + 701 × 1/4 = 325.25, so they cost 325.25/1001 of the GPU.");
  EXPECT_EQ(
      sentences(policy, "What a holder is charged by")[0],
      "At every moment, for a GPU's compute and for its memory, a holder is charged by 0.25 × "
      "its request + 0.75 × its observed usage.");
  EXPECT_EQ(sentences(policy, "How telemetry is read")[1],
            "A device is expected to report every 60s; a sample holds until the next one, for 2.5 "
            "intervals (150s) at most. Time after that is unobserved.");
}

TEST(InWords, OwnersByPriority) {
  Policy policy;
  policy.owners = {
      {1, {}, {{"team", "platform"}}},
      {5,
       {{"namespace", LabelMatch::Op::kIn, {"ml-*", "nlp"}}, {"env", LabelMatch::Op::kAbsent, {}}},
       {{"team", "ml"}, {"client", "us"}}}};
  policy.dimensions = {{"team", {"team", "account"}, "(unowned)"}};
  EXPECT_EQ(sentences(policy, "Who owns a workload"),
            (std::vector<std::string>{
                "Workloads whose label namespace is anything that begins with 'ml-' or 'nlp' and "
                "without a label env have the team 'ml' and the client 'us' (priority 5).",
                "All workloads have the team 'platform' (priority 1).",
                "Else the team is the label team or else account; a workload without has "
                "'(unowned)'."}));
}

TEST(InWords, SaysWhatBecomesOfWhatNobodyUses) {
  Policy policy;
  EXPECT_EQ(sentences(policy, "How idle, overhead and shared cost is spread"),
            (std::vector<std::string>{"All of it stays where it is, in rows of its own."}));
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
      sentences(policy, "How idle, overhead and shared cost is spread"),
      (std::vector<std::string>{
          "Cost that is for no node (shared), of the charge category 'Tax', goes to each team in "
          "fixed parts: nlp 2 and cv 1.",
          "Capacity that nobody held (unallocated) is spread over the holders of the same day in "
          "the "
          "same pool, by what they pay for GPUs.",
          "All other cost stays where it is, in rows of its own."}));
}

}  // namespace
}  // namespace pennyweight
