#include "ingest/manifests/cron_schedule.h"

#include <gtest/gtest.h>

namespace pennyweight::manifests {
namespace {

TEST(CronSchedule, CountsTheRunsOfAMonth) {
  const auto runs = [](std::string_view schedule, unsigned month) {
    const auto count = runs_in_month(schedule, 2026, month);
    return count ? static_cast<int>(*count) : -1;
  };
  EXPECT_EQ(runs("0 3 * * *", 11), 30);
  EXPECT_EQ(runs("*/15 * * * *", 2), 28 * 96);
  EXPECT_EQ(runs("0 0 31 * *", 11), 0);
  EXPECT_EQ(runs("0 0 1 1 *", 11), 0);
  EXPECT_EQ(runs("@yearly", 1), 1);
  EXPECT_EQ(runs("@hourly", 4), 720);
  // November 2026 begins on a Sunday: 5 Sundays, 5 Mondays, 21 days from Monday to Friday.
  EXPECT_EQ(runs("0 9 * * 0", 11), 5);
  EXPECT_EQ(runs("0 9 * * 7", 11), 5);
  EXPECT_EQ(runs("0 9 * * SUN", 11), 5);
  EXPECT_EQ(runs("30 9-17/2 * * mon-fri", 11), 21 * 5);
  // Both days restricted: either of them. The 1st is a Sunday already.
  EXPECT_EQ(runs("0 0 1,2 * 0", 11), 6);
  EXPECT_EQ(runs("0 0 * * *", 2), 28);
}

TEST(CronSchedule, RefusesWhatIsNoSchedule) {
  for (const std::string_view text :
       {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
        "*/0 * * * *", "5-1 * * * *", "a * * * *", "@reboot", "1,,2 * * * *", "-1 * * * *"}) {
    EXPECT_FALSE(runs_in_month(text, 2026, 1)) << text;
  }
}

}  // namespace
}  // namespace pennyweight::manifests
