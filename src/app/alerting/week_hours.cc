#include "app/alerting/week_hours.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pennyweight {
namespace {

constexpr int kDaysMax = 9;
constexpr int kMinutesOfADay = 24 * 60;

// A minute of a day; where the zone skips it, so long after the day began.
Instant minute_of(const Interval& day, int minutes, const TimeZone& zone) {
  if (minutes == kMinutesOfADay) return day.end();
  const std::string time =
      fmt::format("{}T{:02}:{:02}:00", local_date(day.begin(), zone), minutes / 60, minutes % 60);
  return parse_local_time(time, zone, Ambiguous::kEarlier)
      .value_or(day.begin() + std::chrono::minutes(minutes));
}

// The hours that begin on a day; nothing: none do.
std::optional<Interval> hours_of(const WeekHours& hours, const Interval& day,
                                 const TimeZone& zone) {
  Interval first = day_of(start_of_week(day.begin(), zone), zone);
  std::size_t number = 0;
  for (; first.begin() < day.begin(); ++number) first = day_of(first.end(), zone);
  if (!hours.days.at(number % 7)) return std::nullopt;
  const bool is_of_next = hours.to_minutes < hours.from_minutes;
  const Interval last = is_of_next ? day_of(day.end(), zone) : day;
  const Instant from = minute_of(day, hours.from_minutes, zone);
  const Instant to = minute_of(last, hours.to_minutes, zone);
  if (from >= to) return std::nullopt;
  return Interval(from, to);
}

}  // namespace

Instant next_open(const WeekHours& hours, Instant at, const TimeZone& zone) {
  // The hours of yesterday may go on.
  Interval day = day_of(day_of(at, zone).begin() - std::chrono::milliseconds(1), zone);
  for (int i = 0; i < kDaysMax; ++i) {
    const auto open = hours_of(hours, day, zone);
    if (open && at < open->end()) return std::max(at, open->begin());
    day = day_of(day.end(), zone);
  }
  return at;
}

bool is_open(const WeekHours& hours, Instant at, const TimeZone& zone) {
  return next_open(hours, at, zone) == at;
}

}  // namespace pennyweight
