// Instant and Interval: points and spans of time.
//
// An Instant is UTC, to the millisecond. An Interval is half-open, [begin, end), and never empty or
// reversed. A calendar month needs a time zone as well (core/billing_period.h).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/error.h"

namespace pennyweight {

using Instant = std::chrono::sys_time<std::chrono::milliseconds>;

class Interval {
 public:
  // REQUIRES: begin < end.
  constexpr Interval(Instant begin, Instant end) : begin_(begin), end_(end) {
    CHECK(begin < end, "an interval holds at least one millisecond");
  }
  // Nothing when it would be empty or reversed.
  static constexpr std::optional<Interval> of(Instant begin, Instant end) {
    if (begin >= end) return std::nullopt;
    return Interval(begin, end);
  }
  constexpr Instant begin() const { return begin_; }
  constexpr Instant end() const { return end_; }
  constexpr std::uint64_t length_ms() const {
    return static_cast<std::uint64_t>((end_ - begin_).count());
  }
  constexpr bool contains(Instant at) const { return begin_ <= at && at < end_; }
  constexpr std::optional<Interval> overlap(const Interval& other) const {
    return of(begin_ > other.begin_ ? begin_ : other.begin_, end_ < other.end_ ? end_ : other.end_);
  }
  constexpr auto operator<=>(const Interval&) const = default;

 private:
  Instant begin_;
  Instant end_;
};

// The range of times that bills and logs may hold: the years 1970 to 2199, in UTC.
inline constexpr Instant kInstantMin = Instant(std::chrono::milliseconds(0));
inline constexpr Instant kInstantMax = Instant(std::chrono::milliseconds(7'258'118'399'999));

// ISO 8601 as bills and logs write it: YYYY-MM-DD, then optionally 'T' or a space and
// hh:mm[:ss[.fff]], then optionally 'Z', 'UTC' (after a space) or ±hh[:]mm. Without an offset it is
// UTC. From kInstantMin to kInstantMax. Digits finer than a millisecond must be zero.
Result<Instant> parse_instant(std::string_view text);

// "2026-03-01T00:00:00Z", with milliseconds only where there are any.
std::string to_text(Instant at);
// "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z"
std::string to_text(const Interval& interval);

// REQUIRES: the milliseconds fit in 64 bits. Check input against kInstantMin and kInstantMax first.
constexpr Instant from_unix_seconds(std::int64_t seconds) {
  constexpr std::int64_t kSecondsMax = 9'000'000'000'000'000;
  CHECK(seconds <= kSecondsMax && seconds >= -kSecondsMax, "seconds past any calendar");
  return Instant(std::chrono::milliseconds(seconds * 1000));
}
constexpr Instant from_unix_ms(std::int64_t milliseconds) {
  return Instant(std::chrono::milliseconds(milliseconds));
}
constexpr std::int64_t unix_ms(Instant at) { return at.time_since_epoch().count(); }

}  // namespace pennyweight
