// LocalMonths: billing periods that a provider cuts at midnights of its own time zone. FOCUS wants
// UTC; March in Berlin begins in February of UTC, and is March all the same.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::focus {

// The calendar month (UTC) in which an instant is.
Interval utc_month(Instant at);

// Whether a month begins so soon after, as counted in UTC, that it has begun somewhere.
bool is_soon_before_a_month(Instant at);

// An end of a billing period, and how the file writes it.
struct PeriodEnd {
  Instant at;
  std::string_view text;
};

class LocalMonths {
 public:
  // The months (UTC) that begin within hours after both ends, if a time zone has its midnights
  // there. Nothing: the ends are no local midnights. An Error: the file does not state its time
  // zone, and earlier periods were of another one, so that which months are meant is not known.
  Result<std::optional<Interval>> months_of(const PeriodEnd& begin, const PeriodEnd& end);

 private:
  // By how much the time zone of the periods so far was ahead of UTC, where it is not stated.
  struct Ahead {
    std::chrono::minutes least, most;
  };
  std::optional<Ahead> ahead_;
};

}  // namespace pennyweight::focus
