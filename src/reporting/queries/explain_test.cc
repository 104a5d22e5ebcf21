// What of an explanation may be shown to somebody in a scope.
#include "reporting/queries/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::Pair;

Explanation whole() {
  Explanation explanation;
  explanation.steps = {
      {"The bill line", {{"charge", "12"}, {"EffectiveCost", "USD 100"}, {"service", "EC2"}}},
      {"Which part of the price",
       {{"component", "gpu"}, {"effective cost of the part", "USD 85"}, {"how", "residual"}}},
      {"Who shared the node",
       {{"where", "8 GPUs of node n1"},
        {"7 (this one)", "1 of the compute"},
        {"8", "2 of the compute"},
        {"9", "3 of the compute"},
        {"and others", "4"}}},
      {"The rule of sharing", {{"basis", "larger"}, {"reserved card", "x holds y"}}},
      {"Moment by moment", {{"02:00 … 03:00", "1 of 2"}, {"of which used", "5"}}},
      {"How much it weighs",
       {{"weight", "2"}, {"all weights", "20 over 3 postings"}, {"share", "1/10 = 10 %"}}},
      {"The amount", {{"effective", "USD 10 of USD 85"}}},
      {"The whole line", {{"their effective cost", "USD 100"}}},
      {"Who bears it", {{"(team=cv)", "3"}}}};
  return explanation;
}

TEST(CutToScope, NamesNobodyElseAndTellsNoAmountOfAll) {
  const Explanation cut =
      restrict_to_scope(whole(), [](const std::string& workload) { return workload == "8"; });
  ASSERT_EQ(cut.steps.size(), 7U) << "the whole line and who pays for it are not shown";
  EXPECT_THAT(cut.steps[0].facts, ElementsAre(Pair("charge", "12"), Pair("service", "EC2")));
  EXPECT_THAT(cut.steps[1].facts, ElementsAre(Pair("component", "gpu"), Pair("how", "residual")));
  EXPECT_THAT(cut.steps[2].facts,
              ElementsAre(Pair("where", "8 GPUs of node n1"),
                          Pair("7 (this one)", "1 of the compute"), Pair("8", "2 of the compute")));
  EXPECT_THAT(cut.steps[3].facts, ElementsAre(Pair("basis", "larger")));
  EXPECT_THAT(cut.steps[4].facts, ElementsAre(Pair("of which used", "5")))
      << "a moment ends where somebody else's job does";
  EXPECT_THAT(cut.steps[5].facts, ElementsAre(Pair("weight", "2"))) << "10 / 10 % is the whole";
  EXPECT_THAT(cut.steps[6].facts, ElementsAre(Pair("effective", "USD 10")));
}

TEST(CutToScope, AStepThatIsNotKnownIsNotTold) {
  Explanation explanation;
  explanation.steps = {{"A step of tomorrow", {{"name", "value"}}}};
  explanation.exact = false;
  const Explanation cut = restrict_to_scope(explanation, [](const std::string&) { return true; });
  EXPECT_TRUE(cut.steps.empty());
  EXPECT_FALSE(cut.exact);
}

}  // namespace
}  // namespace pennyweight
