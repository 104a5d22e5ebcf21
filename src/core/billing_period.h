// Calendar time: zones, local times, and the month a bill is for.
//
// A month is an interval only in a time zone: Google bills from midnight to midnight Pacific time,
// others in UTC. So every function takes the zone; there is no default. Zones come from the
// operating system's tz database.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

// A zone of the IANA tz database, such as "UTC" or "America/Los_Angeles".
class TimeZone {
 public:
  static Result<TimeZone> parse(std::string_view name);
  static TimeZone utc();
  const std::string& name() const { return name_; }
  auto operator<=>(const TimeZone&) const = default;

 private:
  explicit TimeZone(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// Which of two instants a wall-clock time means, in the hour that a zone has twice when summer time
// ends.
enum class Ambiguous { kEarlier, kLater };

// A wall-clock time "YYYY-MM-DDThh:mm:ss" of a zone, as Slurm prints it. A time that the zone skips
// (the hour when summer time begins) is an error; for one that it has twice `ambiguous` decides.
Result<Instant> parse_local_time(std::string_view text, const TimeZone& zone, Ambiguous ambiguous);

// The first instant of the local day, week (from Monday) or month that `at` falls in. A day begins
// at its first midnight, or at the first instant after it where midnight is skipped, and ends where
// the next day begins.
Instant start_of_day(Instant at, const TimeZone& zone);
// The whole local day that `at` falls in: 23 to 25 hours.
Interval day_of(Instant at, const TimeZone& zone);
Instant start_of_week(Instant at, const TimeZone& zone);
Instant start_of_month(Instant at, const TimeZone& zone);

// `interval` cut at each local midnight, in order.
std::vector<Interval> cut_by_day(const Interval& interval, const TimeZone& zone);

// "2026-03-31", the local day that `at` is billed in: one of the days of cut_by_day.
std::string local_date(Instant at, const TimeZone& zone);

// A calendar month of a zone.
class BillingPeriod {
 public:
  // "2026-03" in `zone`.
  static Result<BillingPeriod> parse(std::string_view year_month, const TimeZone& zone);
  static BillingPeriod containing(Instant at, const TimeZone& zone);

  Interval to_interval() const;
  std::string text() const;  // "2026-03"
  BillingPeriod next() const;
  const TimeZone& zone() const { return zone_; }
  auto operator<=>(const BillingPeriod&) const = default;

 private:
  BillingPeriod(int year, unsigned month, TimeZone zone)
      : year_(year), month_(month), zone_(std::move(zone)) {}
  int year_;
  unsigned month_;
  TimeZone zone_;
};

}  // namespace pennyweight
