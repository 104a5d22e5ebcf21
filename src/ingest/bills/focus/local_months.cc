#include "ingest/bills/focus/local_months.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"

namespace pennyweight::focus {
namespace {

using std::chrono::minutes;

// The furthest ahead of UTC that a time zone is.
constexpr minutes kAheadMax{14 * 60};
// A time zone changes its clocks by no more.
constexpr minutes kClockChangeMax{60};

// Whether a time zone is so far ahead of UTC, with summer time or without:
// https://en.wikipedia.org/wiki/List_of_UTC_offsets.
bool is_of_a_time_zone(minutes ahead) {
  constexpr std::array kNotOfWholeHours = {210, 270, 330, 345, 390, 525, 570, 630, 765, 825};
  if (ahead <= minutes(0) || ahead > kAheadMax) return false;
  return ahead.count() % 60 == 0 ||
         std::ranges::find(kNotOfWholeHours, ahead.count()) != kNotOfWholeHours.end();
}

// "…+01:00" and "…+0100" → an hour, "…-05:00" → five hours less than none; nothing where UTC is
// written, or no time zone.
std::optional<minutes> stated_ahead(std::string_view text) {
  constexpr std::size_t kDateBytes = 10;  // "2026-02-28", whose signs state no time zone
  const std::size_t sign = text.find_last_of("+-");
  if (sign == std::string_view::npos || sign <= kDateBytes) return std::nullopt;
  int digits = 0;
  for (const char c : text.substr(sign + 1)) {
    if (ascii::is_digit(c)) digits = digits * 10 + (c - '0');
  }
  if (digits == 0) return std::nullopt;
  const minutes size(digits / 100 * 60 + digits % 100);
  return text[sign] == '-' ? -size : size;
}

// A month (UTC), and how long before it a local midnight is.
struct NextMonth {
  Instant begin;
  minutes ahead{0};
};

std::optional<NextMonth> month_from(const PeriodEnd& end) {
  const Instant next = utc_month(end.at).end();
  const auto ahead = std::chrono::duration_cast<minutes>(next - end.at);
  if (next - end.at != ahead || !is_of_a_time_zone(ahead)) return std::nullopt;
  if (stated_ahead(end.text).value_or(ahead) != ahead) return std::nullopt;
  return NextMonth{next, ahead};
}

// Where a period ends whose time zone is ahead of UTC as it begins: it may be on UTC by then, as in
// Britain, Ireland and Portugal at the end of October.
std::optional<NextMonth> month_after(const PeriodEnd& end) {
  if (utc_month(end.at).begin() != end.at) return month_from(end);
  if (stated_ahead(end.text)) return std::nullopt;
  return NextMonth{end.at, minutes(0)};
}

// "1 h", "5 h 45 min".
std::string hours_text(minutes time) {
  const auto rest = time.count() % 60;
  return rest == 0 ? fmt::format("{} h", time.count() / 60)
                   : fmt::format("{} h {} min", time.count() / 60, rest);
}

}  // namespace

Interval utc_month(Instant at) {
  using namespace std::chrono;
  const year_month_day date(floor<days>(at));
  const sys_days begin = date.year() / date.month() / 1;
  const sys_days end = (date.year() / date.month() + months(1)) / 1;
  return *Interval::of(begin, end);
}

bool is_soon_before_a_month(Instant at) { return utc_month(at).end() - at <= kAheadMax; }

Result<std::optional<Interval>> LocalMonths::months_of(const PeriodEnd& begin,
                                                       const PeriodEnd& end) {
  const auto first = month_from(begin), after = month_after(end);
  if (!first || !after) return std::nullopt;
  const auto months = Interval::of(first->begin, after->begin);
  const Ahead of_period{std::min(first->ahead, after->ahead), std::max(first->ahead, after->ahead)};
  if (!months || of_period.most - of_period.least > kClockChangeMax) return std::nullopt;
  const bool is_end_stated = after->ahead == minutes(0) || stated_ahead(end.text);
  if (stated_ahead(begin.text) && is_end_stated) return months;
  const Ahead all = ahead_ ? Ahead{std::min(ahead_->least, of_period.least),
                                   std::max(ahead_->most, of_period.most)}
                           : of_period;
  if (all.most - all.least > kClockChangeMax) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("{} is {} before a month in UTC, and billing periods of rows before begin {} "
                    "before one, so it is not known which month is meant; write the time zone, "
                    "such as 2026-03-01T00:00:00+01:00, or UTC",
                    begin.text, hours_text(first->ahead), hours_text(ahead_->most)));
  }
  ahead_ = all;
  return months;
}

}  // namespace pennyweight::focus
