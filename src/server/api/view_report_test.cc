#include "server/api/view_report.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight::api {
namespace {

std::string due(access::ViewPeriod every, const char* sent_until, const char* today) {
  const auto period =
      due_period({.every = every, .receiver = {}, .sent_until = sent_until, .problem = {}},
                 *parse_date(today));
  return period ? to_text(period->first) + " " + to_text(period->second) : "";
}

TEST(ViewReport, AWholePeriodIsDueOnce) {
  using enum access::ViewPeriod;
  struct Row {
    access::ViewPeriod every;
    const char* sent_until;
    const char* today;
    const char* due;
  };
  const Row rows[] = {
      {kDay, "", "2026-03-01", "2026-02-28 2026-02-28"},
      {kDay, "2026-02-28", "2026-03-01", ""},
      {kDay, "2026-02-28", "2026-03-02", "2026-03-01 2026-03-01"},
      // 2026-03-02 is a Monday.
      {kWeek, "", "2026-03-01", "2026-02-16 2026-02-22"},
      {kWeek, "", "2026-03-02", "2026-02-23 2026-03-01"},
      {kWeek, "2026-03-01", "2026-03-08", ""},
      {kWeek, "2026-03-01", "2026-03-09", "2026-03-02 2026-03-08"},
      {kMonth, "", "2024-03-31", "2024-02-01 2024-02-29"},
      {kMonth, "2026-02-28", "2026-03-31", ""},
      {kMonth, "", "2026-01-01", "2025-12-01 2025-12-31"},
      // What was missed while nothing ran is not made up for: only the last one is sent.
      {kDay, "2026-02-01", "2026-03-01", "2026-02-28 2026-02-28"},
      {kMonth, "2027-01-31", "2026-03-01", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(due(row.every, row.sent_until, row.today), row.due);
}

TEST(ViewReport, OnlyViewsOfExploreAreSent) {
  const auto sendable = [](const char* query) {
    return check_sendable_view(
               {.id = 1, .user = "ana", .name = "x", .query = query, .created_at = {}})
        .has_value();
  };
  EXPECT_TRUE(sendable("/explore"));
  EXPECT_TRUE(sendable("/explore?by=team&filter=team%3Dnlp&month=2026-03"));
  for (const char* query :
       {"/", "/compare?by=team", "/explore/", "/explorer", "/exp%6Core", "/explore?by=%ZZ"}) {
    EXPECT_FALSE(sendable(query)) << query;
  }
}

}  // namespace
}  // namespace pennyweight::api
