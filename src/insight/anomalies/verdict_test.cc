#include "insight/anomalies/verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace pennyweight {
namespace {

IncidentName nlp_on(std::string_view day) { return {"team", "nlp", *parse_date(day)}; }

AnomalyVerdict said(bool is_expected, std::string_view day, std::int64_t score) {
  return {nlp_on(day), score, is_expected, "the yearly run", "ana", {}};
}

TEST(Verdicts, WhatIsNoLargerThanWhatWasExpectedIsExpected) {
  const std::vector<AnomalyVerdict> verdicts{said(true, "2026-03-02", 9'000)};
  const auto text = [&](std::string_view day, std::int64_t score) {
    return verdict_text(judge_incident(verdicts, nlp_on(day), score), nlp_on(day));
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
    EXPECT_EQ(judge_incident(verdicts, other, 4'000), nullptr);
  }
}

TEST(Verdicts, TheLastWordCounts) {
  std::vector<AnomalyVerdict> verdicts{said(true, "2026-03-02", 9'000),
                                       said(false, "2026-04-06", 5'000)};
  const auto is_expected = [&](std::string_view day, std::int64_t score) {
    const AnomalyVerdict* verdict = judge_incident(verdicts, nlp_on(day), score);
    return verdict != nullptr && verdict->is_expected;
  };
  EXPECT_TRUE(is_expected("2026-03-02", 9'000)) << "of this day it was said";
  EXPECT_FALSE(is_expected("2026-05-04", 6'000)) << "one of 5 was not expected since";
  EXPECT_TRUE(is_expected("2026-05-04", 4'000));
  verdicts.push_back(said(false, "2026-03-02", 9'000));
  EXPECT_FALSE(is_expected("2026-03-02", 9'000)) << "somebody thought again";
}

}  // namespace
}  // namespace pennyweight
