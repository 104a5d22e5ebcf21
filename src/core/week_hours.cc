#include "core/week_hours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {
namespace {

constexpr int kDaysMax = 9;
constexpr int kMinutesOfDay = 24 * 60;
constexpr std::array<std::string_view, 7> kDayNames = {"mon", "tue", "wed", "thu",
                                                       "fri", "sat", "sun"};

// A minute of a day; where the zone skips it, so long after the day began.
Instant minute_of(const Interval& day, int minutes, const TimeZone& zone) {
  if (minutes == kMinutesOfDay) return day.end();
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

// What a clock shows in the day: the time that has gone by, but for clocks that were changed in it,
// by an hour or, on Lord Howe Island, half of one.
int wall_minute(Instant at, const Interval& day, const TimeZone& zone) {
  const Instant minute = std::chrono::floor<std::chrono::minutes>(at);
  const auto gone =
      static_cast<int>(std::chrono::duration_cast<std::chrono::minutes>(at - day.begin()).count());
  const std::string date = local_date(at, zone);
  for (const int change : {0, -60, 60, -30, 30}) {
    const int shown = gone + change;
    if (shown < 0 || shown >= kMinutesOfDay) continue;
    const std::string text = fmt::format("{}T{:02}:{:02}:00", date, shown / 60, shown % 60);
    for (const Ambiguous which : {Ambiguous::kEarlier, Ambiguous::kLater}) {
      const auto meant = parse_local_time(text, zone, which);
      if (meant && *meant == minute) return shown;
    }
  }
  return std::clamp(gone, 0, kMinutesOfDay - 1);
}

// "08:30" in minutes; 24:00 is the end of the day.
std::optional<int> parse_minutes(std::string_view text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (minute > 59 || hour * 60 + minute > kMinutesOfDay) return std::nullopt;
  return hour * 60 + minute;
}

// "mon-fri" or "sat" among days that are named so far.
bool add_days(std::string_view text, std::array<bool, 7>& days) {
  const std::size_t dash = text.find('-');
  const auto first = std::ranges::find(kDayNames, text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : std::ranges::find(kDayNames, text.substr(dash + 1));
  if (first == kDayNames.end() || last == kDayNames.end()) return false;
  for (auto at = static_cast<std::size_t>(first - kDayNames.begin());; at = (at + 1) % 7) {
    days[at] = true;
    if (at == static_cast<std::size_t>(last - kDayNames.begin())) return true;
  }
}

}  // namespace

Result<WeekHours> parse_week_hours(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' names no hours; write mon-fri 08:00-18:00", text));
  };
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || space == 0) return wrong();
  WeekHours hours{.days = {}};
  std::string_view days = text.substr(0, space);
  while (!days.empty()) {
    const std::size_t comma = std::min(days.find(','), days.size());
    if (!add_days(days.substr(0, comma), hours.days)) return wrong();
    days.remove_prefix(std::min(comma + 1, days.size()));
  }
  const std::string_view times = text.substr(space + 1);
  if (times.size() != 11 || times[5] != '-') return wrong();
  const auto from = parse_minutes(times.substr(0, 5));
  const auto to = parse_minutes(times.substr(6));
  if (!from || !to || *from == *to || *from == kMinutesOfDay) return wrong();
  hours.from_minutes = *from;
  hours.to_minutes = *to;
  return hours;
}

WallTime wall_time(Instant at, const TimeZone& zone) {
  const Interval day = day_of(at, zone);
  const Interval week_begin = day_of(start_of_week(at, zone), zone);
  int weekday = 0;
  for (Interval each = week_begin; each.begin() < day.begin(); each = day_of(each.end(), zone)) {
    ++weekday;
  }
  return {.weekday = weekday, .minute = wall_minute(at, day, zone)};
}

bool is_within(const WeekHours& hours, WallTime at) {
  const auto begins_on = [&](int weekday) {
    return hours.days.at(static_cast<std::size_t>((weekday + 7) % 7));
  };
  if (hours.from_minutes < hours.to_minutes) {
    return begins_on(at.weekday) && at.minute >= hours.from_minutes && at.minute < hours.to_minutes;
  }
  // Over midnight: the evening of its day, or the morning after.
  return (begins_on(at.weekday) && at.minute >= hours.from_minutes) ||
         (begins_on(at.weekday - 1) && at.minute < hours.to_minutes);
}

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
