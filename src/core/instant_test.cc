// Instant and Interval: what ISO 8601 texts mean, and which texts are refused.
#include "core/instant.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace pennyweight {
namespace {

TEST(Instant, ReadsIso8601AsBillsAndLogsWriteIt) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const auto& c : {
           Case{"2026-03-31", "2026-03-31T00:00:00Z"},
           Case{"2026-03-31T13:45:00Z", "2026-03-31T13:45:00Z"},
           Case{"2026-03-31 13:45:00", "2026-03-31T13:45:00Z"},
           Case{"2026-03-31 13:45", "2026-03-31T13:45:00Z"},
           Case{"2026-03-31T13:45Z", "2026-03-31T13:45:00Z"},
           Case{"2026-03-31 13:45:00 UTC", "2026-03-31T13:45:00Z"},
           Case{"2026-03-31T13:45:00.5Z", "2026-03-31T13:45:00.500Z"},
           Case{"2026-03-31T13:45:00.05Z", "2026-03-31T13:45:00.050Z"},
           Case{"2026-03-31T13:45:00.123000000Z", "2026-03-31T13:45:00.123Z"},
           Case{"2026-03-31T13:45:00+02:00", "2026-03-31T11:45:00Z"},
           Case{"2026-03-31T13:45:00-0730", "2026-03-31T21:15:00Z"},
           Case{"2026-03-31T00:30:00+14:00", "2026-03-30T10:30:00Z"},
           Case{"2024-02-29", "2024-02-29T00:00:00Z"},
           Case{"2000-02-29", "2000-02-29T00:00:00Z"},
           Case{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
           Case{"2199-12-31T23:59:59.999Z", "2199-12-31T23:59:59.999Z"},
       }) {
    const auto at = parse_instant(c.text);
    ASSERT_TRUE(at.has_value()) << c.text;
    EXPECT_EQ(to_text(*at), c.want) << c.text;
  }
}

TEST(Instant, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026", "2026-03", "2026-3-31", "26-03-31", "2026-13-01", "2026-00-10", "2026-01-00",
        "2026-02-29", "2100-02-29", "2026-04-31", "2026/03/31", "20260331", "31-03-2026",
        // Time of day.
        "2026-03-31T", "2026-03-31T13", "2026-03-31T24:00:00Z", "2026-03-31T13:60:00Z",
        "2026-03-31T13:45:60Z", "2026-03-31T1:45:00Z", "2026-03-31T13:45:", "2026-03-31T13:45:0",
        "2026-03-31T13:45:00.Z", "2026-03-31T13:45:00.0001Z", "2026-03-31T13:45:00.0000000000Z",
        "2026-03-31t13:45:00Z", "2026-03-31  13:45:00Z",
        // Offset.
        "2026-03-31Z", "2026-03-31T13:45:00z", "2026-03-31T13:45:00 Z", "2026-03-31T13:45:00+2",
        "2026-03-31T13:45:00+14:01", "2026-03-31T13:45:00-15:00", "2026-03-31T13:45:00+01:60",
        "2026-03-31T13:45:00ZZ", "2026-03-31T13:45:00 CEST", "2026-03-31T13:45:00Z ",
        // Out of range, before and after the offset is subtracted.
        "1969-12-31T23:59:59Z", "2200-01-01", "1970-01-01T00:00:00+00:01",
        "2199-12-31T23:59:59-00:01", "0000-00-00T00:00:00Z", "9999-12-31",
        // What sources write if there is no time.
        "Unknown", "None", "NULL", "N/A", "1774964700", "-1", "\xFF\xFE"}) {
    EXPECT_FALSE(parse_instant(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_instant(std::string("2026-03-31\0", 11)).has_value());
}

TEST(Instant, SecondsAndMillisecondsOfUnix) {
  EXPECT_EQ(to_text(from_unix_seconds(1'507'000'000)), "2017-10-03T03:06:40Z");
  EXPECT_EQ(from_unix_seconds(3), from_unix_ms(3'000));
  EXPECT_EQ(unix_ms(kInstantMin), 0);
  EXPECT_EQ(to_text(kInstantMax), "2199-12-31T23:59:59.999Z");
  EXPECT_THROW((void)from_unix_seconds(INT64_MAX), InvariantError);
}

TEST(Interval, IsHalfOpenAndNeverEmpty) {
  const Instant t0 = from_unix_seconds(0);
  const auto second = std::chrono::seconds(1);
  const Interval hour(t0, t0 + 3600 * second);
  EXPECT_EQ(hour.length_ms(), 3'600'000u);
  EXPECT_TRUE(hour.contains(t0));
  EXPECT_FALSE(hour.contains(hour.end()));
  EXPECT_THROW(Interval(t0, t0), InvariantError);
  EXPECT_THROW(Interval(t0 + second, t0), InvariantError);
  EXPECT_FALSE(Interval::of(t0, t0).has_value());

  const Interval next(hour.end(), hour.end() + second);
  EXPECT_FALSE(hour.overlap(next).has_value());  // they touch
  const Interval across(t0 - second, t0 + second);
  EXPECT_EQ(hour.overlap(across), Interval(t0, t0 + second));
  EXPECT_EQ(across.overlap(hour), hour.overlap(across));
  EXPECT_EQ(to_text(next), "1970-01-01T01:00:00Z/1970-01-01T01:00:01Z");
}

RC_GTEST_PROP(InstantProperty, TextReadsBackAsTheSameInstant, ()) {
  const Instant at = from_unix_ms(*rc::gen::inRange<std::int64_t>(0, unix_ms(kInstantMax) + 1));
  RC_ASSERT(parse_instant(to_text(at)).value() == at);
}

}  // namespace
}  // namespace pennyweight
