#include "core/billing_period.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <stdexcept>

#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using LocalDays = date::local_days;

// REQUIRES: the name was accepted by TimeZone::parse.
const date::time_zone& zone_of(const TimeZone& zone) { return *date::locate_zone(zone.name()); }

Instant start_of(LocalDays day, const date::time_zone& zone) {
  // A day whose midnight is skipped, or comes twice, begins at its first instant.
  return std::chrono::floor<std::chrono::milliseconds>(zone.to_sys(day, date::choose::earliest));
}

// The local day that `at` is billed in. A day runs from its first midnight to the next day's, so
// days follow one another even where clocks are put back over midnight and a few minutes of the
// new day are followed by the last hour of the old (America/St_Johns until 2011, at 00:01).
LocalDays local_day(Instant at, const date::time_zone& zone) {
  const LocalDays day = date::floor<date::days>(zone.to_local(at));
  const LocalDays next = day + date::days{1};
  return start_of(next, zone) <= at ? next : day;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view name) {
  try {
    (void)date::locate_zone(std::string(name));
    return TimeZone(std::string(name));
  } catch (const std::runtime_error&) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a time zone; write an IANA name such as UTC or "
                            "America/Los_Angeles",
                            printable_text(name, 60)));
  }
}

TimeZone TimeZone::utc() { return TimeZone("UTC"); }

Result<Instant> parse_local_time(std::string_view text, const TimeZone& zone, Ambiguous ambiguous) {
  if (text.size() != 19 || text.find_first_of("Z+") != std::string_view::npos) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a local time; write it as 2026-03-31T13:45:00",
                            printable_text(text, 60)));
  }
  const auto as_utc = TRY(parse_instant(text));
  const date::local_time<std::chrono::milliseconds> local{as_utc.time_since_epoch()};
  const auto info = zone_of(zone).get_info(local);
  if (info.result == date::local_info::nonexistent) {
    return fail(ErrorCode::kBadValue, fmt::format("{} does not exist in {}: the clock is moved "
                                                  "forward over it",
                                                  text, zone.name()));
  }
  const bool later = info.result == date::local_info::ambiguous && ambiguous == Ambiguous::kLater;
  const auto offset = later ? info.second.offset : info.first.offset;
  const Instant at(local.time_since_epoch() - offset);
  if (at < kInstantMin || at > kInstantMax) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} in {} lies outside the years 1970 to 2199", text, zone.name()));
  }
  return at;
}

Instant start_of_day(Instant at, const TimeZone& zone) {
  const auto& tz = zone_of(zone);
  return start_of(local_day(at, tz), tz);
}

Interval day_of(Instant at, const TimeZone& zone) {
  const Instant begin = start_of_day(at, zone);
  // In the middle of the next day, however long this one is.
  return {begin, start_of_day(begin + std::chrono::hours(36), zone)};
}

Instant start_of_week(Instant at, const TimeZone& zone) {
  const auto& tz = zone_of(zone);
  const LocalDays day = local_day(at, tz);
  return start_of(day - (date::weekday{day} - date::Monday), tz);
}

Instant start_of_month(Instant at, const TimeZone& zone) {
  return BillingPeriod::containing(at, zone).to_interval().begin();
}

std::vector<Interval> cut_by_day(const Interval& interval, const TimeZone& zone) {
  const auto& tz = zone_of(zone);
  std::vector<Interval> pieces;
  Instant begin = interval.begin();
  while (begin < interval.end()) {
    const Instant midnight = start_of(local_day(begin, tz) + date::days{1}, tz);
    const Instant end = midnight < interval.end() ? midnight : interval.end();
    pieces.emplace_back(begin, end);
    begin = end;
  }
  return pieces;
}

std::string local_date(Instant at, const TimeZone& zone) {
  return date::format("%F", date::year_month_day{local_day(at, zone_of(zone))});
}

Result<BillingPeriod> BillingPeriod::parse(std::string_view year_month, const TimeZone& zone) {
  const auto first = parse_instant(std::string(year_month) + "-01");
  if (!first || year_month.size() != 7) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is not a month; write it as 2026-03",
                                                  printable_text(year_month, 40)));
  }
  const BillingPeriod in_utc = containing(*first, TimeZone::utc());
  return BillingPeriod(in_utc.year_, in_utc.month_, zone);
}

BillingPeriod BillingPeriod::containing(Instant at, const TimeZone& zone) {
  const date::year_month_day day{local_day(at, zone_of(zone))};
  return {static_cast<int>(day.year()), static_cast<unsigned>(day.month()), zone};
}

Interval BillingPeriod::to_interval() const {
  const auto& tz = zone_of(zone_);
  const BillingPeriod after = next();
  const auto first_day = [](const BillingPeriod& p) {
    return LocalDays{date::year{p.year_} / static_cast<int>(p.month_) / 1};
  };
  return {start_of(first_day(*this), tz), start_of(first_day(after), tz)};
}

BillingPeriod BillingPeriod::next() const {
  return month_ == 12 ? BillingPeriod(year_ + 1, 1, zone_)
                      : BillingPeriod(year_, month_ + 1, zone_);
}

std::string BillingPeriod::text() const { return fmt::format("{:04}-{:02}", year_, month_); }

}  // namespace pennyweight
