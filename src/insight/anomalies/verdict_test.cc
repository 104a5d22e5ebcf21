#include "insight/anomalies/verdict.h"

#include <gtest/gtest.h>

#include <vector>

#include "insight/anomalies/anomaly.h"

namespace pennyweight {
namespace {

IncidentName nlp_on(std::string_view day) { return {"team", "nlp", *parse_date(day)}; }

IncidentSize size_of(std::int64_t score_milli, std::int64_t per_day) {
  return {score_milli, Money::from_units(per_day, kUsd)};
}

AnomalyVerdict said(bool is_expected, std::string_view day, std::int64_t score) {
  return {nlp_on(day), size_of(score, 10), is_expected, "the yearly run", "ana", {}, true};
}

TEST(Verdicts, WhatIsNoLargerThanWhatWasExpectedIsExpected) {
  const std::vector<AnomalyVerdict> verdicts{said(true, "2026-03-02", 9'000)};
  const auto text = [&](std::string_view day, std::int64_t score) {
    return verdict_text(judge_incident(verdicts, nlp_on(day), size_of(score, 10)), nlp_on(day));
  };
  EXPECT_EQ(text("2026-03-02", 9'000), "expected: the yearly run (ana)");
  EXPECT_EQ(text("2026-03-02", 18'000), "expected: the yearly run (ana)");
  EXPECT_EQ(text("2026-03-02", 18'001), "") << "it has grown to twice of what it was";
  EXPECT_EQ(text("2026-05-04", 9'000), "expected: the yearly run (ana, as on 2026-03-02)");
  EXPECT_EQ(text("2026-05-04", 9'001), "");
  EXPECT_EQ(text("2026-05-04", -4'000), "") << "less is another matter";
  EXPECT_EQ(text("2026-08-29", 9'000), "expected: the yearly run (ana, as on 2026-03-02)");
  EXPECT_EQ(text("2026-08-30", 9'000), "") << "half a year is long ago";
  for (const IncidentName& other : {IncidentName{"team", "cv", *parse_date("2026-03-02")},
                                    IncidentName{"user", "nlp", *parse_date("2026-03-02")}}) {
    EXPECT_EQ(judge_incident(verdicts, other, size_of(4'000, 10)), nullptr);
  }
}

TEST(Verdicts, TheLastWordCounts) {
  std::vector<AnomalyVerdict> verdicts{said(true, "2026-03-02", 9'000),
                                       said(false, "2026-04-06", 5'000)};
  const auto is_expected = [&](std::string_view day, std::int64_t score) {
    const AnomalyVerdict* verdict = judge_incident(verdicts, nlp_on(day), size_of(score, 10));
    return verdict != nullptr && verdict->is_expected;
  };
  EXPECT_TRUE(is_expected("2026-03-02", 9'000)) << "of this day it was said";
  EXPECT_FALSE(is_expected("2026-05-04", 6'000)) << "one of 5 was not expected since";
  EXPECT_TRUE(is_expected("2026-05-04", 4'000));
  verdicts.push_back(said(false, "2026-03-02", 9'000));
  EXPECT_FALSE(is_expected("2026-03-02", 9'000)) << "somebody thought again";
}

AnomalyVerdict expected_at(IncidentSize size) {
  AnomalyVerdict verdict = said(true, "2026-03-02", 0);
  verdict.size = size;
  return verdict;
}

bool is_expected(const AnomalyVerdict& verdict, std::string_view day, IncidentSize size) {
  const auto* found = judge_incident({&verdict, 1}, nlp_on(day), size);
  return found != nullptr && found->is_expected;
}

TEST(Verdicts, TeachesLaterDaysThatAreNoLargerInScoreAndInMoney) {
  const AnomalyVerdict verdict = expected_at(size_of(13'500, 200));
  EXPECT_TRUE(is_expected(verdict, "2026-04-02", size_of(13'500, 200)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", size_of(13'600, 200)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", size_of(10'100, 3000)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", size_of(-5'000, -100)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", {5'000, Money::from_units(1, kEur)}));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", {5'000, {}}));
  EXPECT_TRUE(is_expected(verdict, "2026-08-29", size_of(5'000, 100)));
  EXPECT_FALSE(is_expected(verdict, "2026-08-30", size_of(5'000, 100)));
  // Backwards it teaches nothing.
  EXPECT_FALSE(is_expected(verdict, "2026-03-01", size_of(5'000, 100)));
}

TEST(Verdicts, ABoundedScoreTeachesNothing) {
  const AnomalyVerdict verdict = expected_at(size_of(kScoreBound, 1));
  EXPECT_TRUE(is_expected(verdict, "2026-03-02", size_of(kScoreBound, 2)));
  EXPECT_FALSE(is_expected(verdict, "2026-03-02", size_of(kScoreBound, 3)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", size_of(5'000, 1)));
}

TEST(Verdicts, OfSomebodyWhoMayNotTeachCountsForItsOwnDaysOnly) {
  AnomalyVerdict verdict = expected_at(size_of(13'500, 200));
  verdict.teaches = false;
  EXPECT_TRUE(is_expected(verdict, "2026-03-02", size_of(13'500, 200)));
  EXPECT_FALSE(is_expected(verdict, "2026-04-02", size_of(5'000, 100)));
}

TEST(Verdicts, CountsNoMoreOnceItsDaysHaveGrownToTwiceTheSize) {
  const AnomalyVerdict verdict = expected_at(size_of(-4'000, -200));
  EXPECT_TRUE(is_expected(verdict, "2026-03-02", size_of(-8'000, -400)));
  EXPECT_FALSE(is_expected(verdict, "2026-03-02", size_of(-8'001, -200)));
  EXPECT_FALSE(is_expected(verdict, "2026-03-02", size_of(-4'000, -401)));
}

}  // namespace
}  // namespace pennyweight
