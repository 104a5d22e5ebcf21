// Dates in Azure's exports: MM/DD/YYYY, with or without leading zeros, or ISO 8601. Portals and
// spreadsheets of other countries write DD/MM/YYYY.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::azure {

enum class DateOrder : std::uint8_t { kMonthFirst, kDayFirst };

// Midnight UTC of a date; an ISO text may carry a time.
Result<Instant> parse_export_date(std::string_view text, DateOrder order = DateOrder::kMonthFirst);

// The UTC day that contains `at`.
Interval utc_day(Instant at);
// The calendar month in UTC.
Interval utc_month(Instant at);

}  // namespace pennyweight::azure
