// Hours of the week, such as business hours: what they are, and when they are open.
#pragma once

#include <array>
#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

// Hours of some days of the week, as clocks on the wall show them: "mon-fri 08:00-18:00".
struct WeekHours {
  // On which they begin, from Monday on.
  std::array<bool, 7> days = {true, true, true, true, true, false, false};
  int from_minutes = 8 * 60;  // of the day
  int to_minutes = 18 * 60;   // before from_minutes: of the next day
  bool operator==(const WeekHours&) const = default;
};
// "mon-fri 08:00-18:00", "sat,sun 00:00-24:00", "sat 22:00-04:00".
Result<WeekHours> parse_week_hours(std::string_view text);

bool is_open(const WeekHours& hours, Instant at, const TimeZone& zone);
// `at`, or when they open next. REQUIRES: hours of some day, as parse_week_hours() gives them.
Instant next_open(const WeekHours& hours, Instant at, const TimeZone& zone);

// What clocks show, where that is known without the instant.
struct WallTime {
  int weekday = 0;  // from Monday on
  int minute = 0;   // of the day
};
WallTime wall_time(Instant at, const TimeZone& zone);
bool is_within(const WeekHours& hours, WallTime at);

}  // namespace pennyweight
