// Calendar time in zones with clock changes: days of 23 and 25 hours, midnights that are skipped or
// occur twice, and days that do not exist.
#include "core/billing_period.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace pennyweight {
namespace {

TimeZone zone(std::string_view name) { return TimeZone::parse(name).value(); }
Instant at(std::string_view text) { return parse_instant(text).value(); }

TEST(TimeZone, KnowsTheNamesOfTheTzDatabase) {
  EXPECT_EQ(zone("UTC"), TimeZone::utc());
  EXPECT_EQ(zone("Europe/Berlin").name(), "Europe/Berlin");
  for (const char* bad :
       {"", "CEST", "Berlin", "europe/berlin", "UTC+2", "../etc/passwd", "\xFF"}) {
    EXPECT_FALSE(TimeZone::parse(bad).has_value()) << bad;
  }
}

TEST(BillingPeriod, IsTheMonthOfItsZone) {
  struct Case {
    const char* month;
    const char* zone;
    const char* want;
    std::uint64_t hours;
  };
  for (const auto& c : {
           Case{"2026-03", "UTC", "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z", 744},
           Case{"2026-02", "UTC", "2026-02-01T00:00:00Z/2026-03-01T00:00:00Z", 672},
           Case{"2024-02", "UTC", "2024-02-01T00:00:00Z/2024-03-01T00:00:00Z", 696},
           Case{"2025-12", "UTC", "2025-12-01T00:00:00Z/2026-01-01T00:00:00Z", 744},
           // Only past years: governments change the rules of future ones.
           Case{"2026-03", "America/Los_Angeles", "2026-03-01T08:00:00Z/2026-04-01T07:00:00Z", 743},
           Case{"2024-11", "America/Los_Angeles", "2024-11-01T07:00:00Z/2024-12-01T08:00:00Z", 721},
           Case{"2026-03", "Europe/Berlin", "2026-02-28T23:00:00Z/2026-03-31T22:00:00Z", 743},
           Case{"2024-10", "Europe/Berlin", "2024-09-30T22:00:00Z/2024-10-31T23:00:00Z", 745},
           Case{"2199-12", "UTC", "2199-12-01T00:00:00Z/2200-01-01T00:00:00Z", 744},
       }) {
    const auto period = BillingPeriod::parse(c.month, zone(c.zone));
    ASSERT_TRUE(period.has_value()) << c.month;
    EXPECT_EQ(to_text(period->to_interval()), c.want);
    EXPECT_EQ(period->to_interval().length_ms(), c.hours * 3'600'000) << c.month << c.zone;
    EXPECT_EQ(period->text(), c.month);
    EXPECT_EQ(BillingPeriod::containing(period->to_interval().begin(), zone(c.zone)), *period);
    EXPECT_EQ(period->next().to_interval().begin(), period->to_interval().end());
  }
  for (const char* bad : {"", "2026", "2026-3", "2026-13", "2026-00", "2026-03-01", "03-2026",
                          "1969-12", "2200-01", "2026/03", "March 2026"}) {
    EXPECT_FALSE(BillingPeriod::parse(bad, TimeZone::utc()).has_value()) << bad;
  }
}

TEST(BillingPeriod, AnInstantIsInOneMonthOfEachZone) {
  const Instant edge = at("2026-04-01T03:00:00Z");
  EXPECT_EQ(BillingPeriod::containing(edge, zone("UTC")).text(), "2026-04");
  EXPECT_EQ(BillingPeriod::containing(edge, zone("America/Los_Angeles")).text(), "2026-03");
  EXPECT_EQ(to_text(start_of_month(edge, zone("America/Los_Angeles"))), "2026-03-01T08:00:00Z");
  EXPECT_NE(*BillingPeriod::parse("2026-03", zone("UTC")),
            *BillingPeriod::parse("2026-03", zone("Europe/Berlin")));
}

TEST(Days, HaveTwentyThreeToTwentyFiveHours) {
  struct Case {
    const char* zone;
    const char* inside;
    const char* want_start;
    const char* want_next;
    const char* date;
  };
  for (const auto& c : {
           Case{"UTC", "2026-03-31T13:45:00Z", "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z",
                "2026-03-31"},
           // 23 and 25 hours.
           Case{"America/Los_Angeles", "2026-03-08T12:00:00Z", "2026-03-08T08:00:00Z",
                "2026-03-09T07:00:00Z", "2026-03-08"},
           Case{"America/Los_Angeles", "2024-11-04T07:59:59Z", "2024-11-03T07:00:00Z",
                "2024-11-04T08:00:00Z", "2024-11-03"},
           Case{"Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-28T23:00:00Z",
                "2026-03-29T22:00:00Z", "2026-03-29"},
           Case{"Europe/Berlin", "2024-10-27T12:00:00Z", "2024-10-26T22:00:00Z",
                "2024-10-27T23:00:00Z", "2024-10-27"},
           // No midnight: 15 October 2017 begins at 01:00 in São Paulo.
           Case{"America/Sao_Paulo", "2017-10-15T12:00:00Z", "2017-10-15T03:00:00Z",
                "2017-10-16T02:00:00Z", "2017-10-15"},
           Case{"America/Sao_Paulo", "2017-10-15T02:59:59.999Z", "2017-10-14T03:00:00Z",
                "2017-10-15T03:00:00Z", "2017-10-14"},
           // The last hour of Saturday occurs twice: clocks go back at midnight.
           Case{"America/Sao_Paulo", "2018-02-18T02:30:00Z", "2018-02-17T02:00:00Z",
                "2018-02-18T03:00:00Z", "2018-02-17"},
           // Midnight occurs twice: clocks go back at 01:00. The day begins at the first.
           Case{"America/Havana", "2024-11-03T05:30:00Z", "2024-11-03T04:00:00Z",
                "2024-11-04T05:00:00Z", "2024-11-03"},
           // Clocks go back across midnight, at 00:01: the new day begins at the first midnight.
           Case{"America/St_Johns", "2006-10-29T02:45:00Z", "2006-10-29T02:30:00Z",
                "2006-10-30T03:30:00Z", "2006-10-29"},
           // 30 December 2011 does not exist in Samoa.
           Case{"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T10:00:00Z",
                "2011-12-30T10:00:00Z", "2011-12-29"},
           Case{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z",
                "2011-12-31T10:00:00Z", "2011-12-31"},
       }) {
    const Instant inside = at(c.inside);
    EXPECT_EQ(to_text(start_of_day(inside, zone(c.zone))), c.want_start) << c.zone;
    EXPECT_EQ(local_date(inside, zone(c.zone)), c.date) << c.zone;
    const Interval rest(inside, at(c.want_next) + std::chrono::milliseconds(1));
    const auto pieces = cut_by_day(rest, zone(c.zone));
    ASSERT_EQ(pieces.size(), 2u) << c.zone << " " << c.inside;
    EXPECT_EQ(to_text(pieces[0].end()), c.want_next) << c.zone;
  }
}

TEST(Days, WeeksBeginOnMonday) {
  EXPECT_EQ(to_text(start_of_week(at("2026-03-29T21:59:59Z"), zone("Europe/Berlin"))),
            "2026-03-22T23:00:00Z");
  EXPECT_EQ(to_text(start_of_week(at("2026-03-29T22:00:00Z"), zone("Europe/Berlin"))),
            "2026-03-29T22:00:00Z");
}

TEST(LocalTime, IsReadInItsZone) {
  struct Case {
    const char* zone;
    const char* text;
    const char* earlier;
    const char* later;
  };
  for (const auto& c : {
           Case{"UTC", "2026-03-31T13:45:00", "2026-03-31T13:45:00Z", "2026-03-31T13:45:00Z"},
           Case{"Asia/Kolkata", "2026-03-31T13:45:00", "2026-03-31T08:15:00Z",
                "2026-03-31T08:15:00Z"},
           Case{"Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z",
                "2026-03-29T01:00:00Z"},
           Case{"Europe/Berlin", "2024-10-27T02:30:00", "2024-10-27T00:30:00Z",
                "2024-10-27T01:30:00Z"},
           Case{"America/Los_Angeles", "2024-11-03T01:00:00", "2024-11-03T08:00:00Z",
                "2024-11-03T09:00:00Z"},
       }) {
    EXPECT_EQ(to_text(*parse_local_time(c.text, zone(c.zone), Ambiguous::kEarlier)), c.earlier);
    EXPECT_EQ(to_text(*parse_local_time(c.text, zone(c.zone), Ambiguous::kLater)), c.later);
  }
}

TEST(LocalTime, RefusesSkippedHoursAndTextsWithAnOffset) {
  const auto refused = [](const char* text, const char* name) {
    const auto read = parse_local_time(text, zone(name), Ambiguous::kEarlier);
    EXPECT_FALSE(read.has_value()) << text << " " << name;
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(
      refused("2026-03-29T02:30:00", "Europe/Berlin"),
      "2026-03-29T02:30:00 does not exist in Europe/Berlin: the clock is moved forward over it");
  refused("2017-10-15T00:00:00", "America/Sao_Paulo");
  refused("2011-12-30T12:00:00", "Pacific/Apia");
  refused("1970-01-01T00:00:00", "Europe/Berlin");  // 1969 in UTC
  for (const char* text : {"", "2026-03-31", "2026-03-31T13:45", "2026-03-31T13:45:00Z",
                           "2026-03-31T13:45+00", "2026-03-31T13:45-00", "2026-03-31T25:00:00",
                           "2026-02-30T00:00:00", "Unknown", "None assigned today"}) {
    refused(text, "UTC");
  }
}

// Any instant, any interval of up to forty days, in zones with every kind of clock change.
RC_GTEST_PROP(DaysProperty, CutPiecesFollowOneAnotherAndLieInOneDay, ()) {
  const auto in = zone(*rc::gen::element<std::string>(
      "UTC", "America/Los_Angeles", "Europe/Berlin", "America/Sao_Paulo", "America/Havana",
      "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
      "Asia/Kathmandu"));
  // 1990 to 2037.
  const Instant begin =
      from_unix_ms(*rc::gen::inRange<std::int64_t>(631'152'000'000, 2'145'916'800'000));
  const auto length = *rc::gen::inRange<std::int64_t>(1, std::int64_t{40} * 86'400'000);
  const Interval whole(begin, begin + std::chrono::milliseconds(length));
  const auto pieces = cut_by_day(whole, in);

  RC_ASSERT(pieces.front().begin() == whole.begin());
  RC_ASSERT(pieces.back().end() == whole.end());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Instant last = pieces[i].end() - std::chrono::milliseconds(1);
    RC_ASSERT(start_of_day(pieces[i].begin(), in) == start_of_day(last, in));
    RC_ASSERT(local_date(pieces[i].begin(), in) == local_date(last, in));
    RC_ASSERT(pieces[i].length_ms() <= std::uint64_t{25 * 3'600'000 + 60'000 * 60});
    if (i > 0) {
      RC_ASSERT(pieces[i].begin() == pieces[i - 1].end());
      RC_ASSERT(start_of_day(pieces[i].begin(), in) == pieces[i].begin());
      RC_ASSERT(local_date(pieces[i].begin(), in) > local_date(pieces[i - 1].begin(), in));
    }
    RC_ASSERT(BillingPeriod::containing(pieces[i].begin(), in).to_interval().contains(last));
  }
}

}  // namespace
}  // namespace pennyweight
