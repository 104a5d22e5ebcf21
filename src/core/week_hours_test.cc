#include "core/week_hours.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

Instant at(const char* text) { return *parse_instant(text); }
const TimeZone kBerlin = *TimeZone::parse("Europe/Berlin");

TEST(WeekHours, OpenOnTheirDays) {
  const WeekHours business;
  // 2026-03-06 is a Friday.
  EXPECT_TRUE(is_open(business, at("2026-03-06T07:00:00Z"), kBerlin));
  EXPECT_FALSE(is_open(business, at("2026-03-06T06:59:59Z"), kBerlin));
  EXPECT_FALSE(is_open(business, at("2026-03-06T17:00:00Z"), kBerlin));
  EXPECT_EQ(next_open(business, at("2026-03-06T17:00:00Z"), kBerlin), at("2026-03-09T07:00:00Z"));
  EXPECT_EQ(next_open(business, at("2026-03-06T05:00:00Z"), kBerlin), at("2026-03-06T07:00:00Z"));
}

TEST(WeekHours, MayEndOnTheNextDay) {
  const auto night = *parse_week_hours("sat 22:00-04:00");
  EXPECT_TRUE(is_open(night, at("2026-03-07T21:00:00Z"), kBerlin));
  EXPECT_TRUE(is_open(night, at("2026-03-08T02:59:00Z"), kBerlin));
  EXPECT_FALSE(is_open(night, at("2026-03-08T03:00:00Z"), kBerlin));
  EXPECT_FALSE(is_open(night, at("2026-03-07T02:00:00Z"), kBerlin));
  // The night in which clocks are set forward.
  EXPECT_TRUE(is_open(night, at("2026-03-29T01:59:00Z"), kBerlin));
  EXPECT_FALSE(is_open(night, at("2026-03-29T02:00:00Z"), kBerlin));
}

TEST(WeekHours, AreReadFromText) {
  EXPECT_EQ(*parse_week_hours("mon-fri 08:00-18:00"), WeekHours());
  const auto weekend = *parse_week_hours("sat,sun 00:00-24:00");
  EXPECT_EQ(weekend.to_minutes, 1440);
  EXPECT_TRUE(weekend.days[5] && weekend.days[6] && !weekend.days[0]);
  EXPECT_EQ(parse_week_hours("sat-mon 10:00-11:00")->days,
            (std::array<bool, 7>{true, false, false, false, false, true, true}));
  for (const char* wrong :
       {"", "mon", "mon-fri", "mon 8-18", "mon 08:00-08:00", "mon 24:00-08:00", "mon 08:60-09:00",
        "moon 08:00-18:00", "mon-sun 08:00-25:00", " 08:00-18:00"}) {
    EXPECT_FALSE(parse_week_hours(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace pennyweight
