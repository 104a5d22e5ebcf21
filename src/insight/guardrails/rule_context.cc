#include "insight/guardrails/rule_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "core/int128.h"

namespace pennyweight::guardrails {
namespace {

constexpr int kMinutesOfDay = 24 * 60;

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

}  // namespace

WallTime wall_time(Instant at, const TimeZone& zone) {
  const Interval day = day_of(at, zone);
  const Interval week_begin = day_of(start_of_week(at, zone), zone);
  int weekday = 0;
  for (Interval each = week_begin; each.begin() < day.begin(); each = day_of(each.end(), zone)) {
    ++weekday;
  }
  return {.weekday = weekday, .minute = wall_minute(at, day, zone)};
}

bool is_within(const WeekWindow& window, WallTime at) {
  const auto begins_on = [&](int weekday) {
    return window.days.at(static_cast<std::size_t>((weekday + 7) % 7));
  };
  if (window.from_minutes < window.to_minutes) {
    return begins_on(at.weekday) && at.minute >= window.from_minutes &&
           at.minute < window.to_minutes;
  }
  // Over midnight: the evening of its day, or the morning after.
  return (begins_on(at.weekday) && at.minute >= window.from_minutes) ||
         (begins_on(at.weekday - 1) && at.minute < window.to_minutes);
}

bool BudgetUse::is_used_above(std::uint32_t permille) const {
  const Int128 spent = (amount - *left).ticks();
  // Both are at most 10^31 ticks, and the products stay below 2^127.
  return spent * 1000 > amount.ticks() * Int128{permille};
}

}  // namespace pennyweight::guardrails
