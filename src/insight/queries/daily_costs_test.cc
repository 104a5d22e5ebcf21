#include "insight/queries/daily_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "core/card_share.h"

namespace pennyweight {
namespace {

using std::chrono::days;

const Date kFirst = *parse_date("2026-03-01");

// A day's cost, and whether machines were billed on it.
SummaryRow day_row(int day, std::int64_t units, bool has_usage) {
  const Money cost = Money::from_units(units, kUsd);
  SummaryRow row{.bucket = kFirst + days(day),
                 .keys = {},
                 .costs = {.billed = cost, .effective = cost, .list = cost, .contracted = cost},
                 .gpu_time = {},
                 .idle_time = {},
                 .memory_time = {},
                 .observed_time = {}};
  if (has_usage) row.gpu_time = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 3'600'000);
  return row;
}

Result<DailyCostHistory> history_of(const std::vector<SummaryRow>& rows) {
  const Policy policy{};
  return query_daily_costs(
      {.by = {}, .today = kFirst + days(rows.size())}, policy,
      [&](const SummaryQuery&) -> Result<std::vector<SummaryRow>> { return rows; });
}

// A support fee is stated for the whole month, while the usage of its last days has not come.
TEST(DailyCosts, DaysThatHaveOnlyFeesAreNotComplete) {
  std::vector<SummaryRow> rows;
  for (int day = 0; day < 20; ++day) rows.push_back(day_row(day, day < 14 ? 1000 : 30, day < 14));
  const auto history = history_of(rows);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(to_text(history->last_day()), "2026-03-14");
  EXPECT_THAT(history->notes, testing::Contains(testing::HasSubstr("2026-03-15 to 2026-03-20")));
}

TEST(DailyCosts, OneDayThatHasOnlyFeesIsNamedOnce) {
  std::vector<SummaryRow> rows;
  for (int day = 0; day < 20; ++day) rows.push_back(day_row(day, day < 19 ? 1000 : 30, day < 19));
  const auto history = history_of(rows);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(to_text(history->last_day()), "2026-03-19");
  EXPECT_THAT(history->notes, testing::Contains(testing::StartsWith("2026-03-20 is left out")));
}

// The storage of a fleet that was shut down goes on.
TEST(DailyCosts, DaysWithoutGpuTimeAreCompleteOnceUsageCannotBeLateAnyMore) {
  const auto history_of_days = [](int count) {
    std::vector<SummaryRow> rows;
    for (int day = 0; day < count; ++day) {
      rows.push_back(day_row(day, day < 14 ? 1000 : 30, day < 14));
    }
    return history_of(rows);
  };
  const auto late = history_of_days(14 + 31);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(to_text(late->last_day()), "2026-03-14");
  const auto gone = history_of_days(14 + 32);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(to_text(gone->last_day()), "2026-04-15");
  EXPECT_THAT(gone->notes, testing::ElementsAre(testing::HasSubstr("since 2026-03-14")));
}

// The bill has come, and the jobs of its last days have not been imported.
TEST(DailyCosts, DaysOnWhichNothingHeldAGpuAreNotComplete) {
  const auto history_of_days = [](int held, int idle, int skipped) {
    std::vector<SummaryRow> rows;
    for (int day = 0; day < held + idle; ++day) {
      rows.push_back(day_row(day, 1000, true));
      const bool is_held = day < held && day != skipped;
      if (!is_held) std::swap(rows.back().gpu_time, rows.back().idle_time);
    }
    return history_of(rows);
  };
  const auto last_of = [&](int held, int idle, int skipped) {
    const auto history = history_of_days(held, idle, skipped);
    return history ? to_text(history->last_day()) : history.error().message;
  };
  EXPECT_EQ(last_of(14, 0, -1), "2026-03-14");
  EXPECT_EQ(last_of(14, 1, -1), "2026-03-14");
  EXPECT_EQ(last_of(14, 2, -1), "2026-03-14");
  // Nothing runs any more, or not on each day.
  EXPECT_EQ(last_of(14, 3, -1), "2026-03-17");
  EXPECT_EQ(last_of(14, 1, 9), "2026-03-15");
  EXPECT_EQ(last_of(14, 1, 6), "2026-03-14");
  EXPECT_EQ(last_of(6, 1, -1), "2026-03-07");
  EXPECT_THAT(history_of_days(14, 2, -1)->notes,
              testing::ElementsAre(testing::StartsWith("what came after 2026-03-14 is left out")));
}

// Users with a scope are told of the same days, though they see a part of the costs.
TEST(DailyCosts, TheLastCompleteDayIsThatOfAHistory) {
  for (const int idle : {0, 1, 3}) {
    std::vector<SummaryRow> rows;
    for (int day = 0; day < 14 + idle; ++day) {
      rows.push_back(day_row(day, 1000, true));
      if (day >= 14) std::swap(rows.back().gpu_time, rows.back().idle_time);
    }
    const auto last = last_complete_day(
        kFirst + days(rows.size()),
        [&](const SummaryQuery&) -> Result<std::vector<SummaryRow>> { return rows; });
    ASSERT_TRUE(last && *last);
    EXPECT_EQ(to_text(**last), to_text(history_of(rows)->last_day()));
  }
  const auto none = last_complete_day(
      kFirst, [](const SummaryQuery&) { return Result<std::vector<SummaryRow>>(); });
  EXPECT_TRUE(none && !*none);
}

// Where no day has GPU time, as in a ledger of fees alone, nothing can be told from that.
TEST(DailyCosts, ALedgerWithoutGpuTimeIsComplete) {
  std::vector<SummaryRow> rows;
  for (int day = 0; day < 20; ++day) rows.push_back(day_row(day, 30, false));
  const auto history = history_of(rows);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(to_text(history->last_day()), "2026-03-20");
}

}  // namespace
}  // namespace pennyweight
