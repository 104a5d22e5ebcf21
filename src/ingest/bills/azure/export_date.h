// Dates in Azure's exports: MM/DD/YYYY, with or without leading zeros, or ISO 8601.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::azure {

// Midnight UTC of a date; an ISO text may carry a time.
Result<Instant> parse_export_date(std::string_view text);

// True for a date that can only have the day before the month: 31/03/2026.
bool is_day_first(std::string_view text);

// The UTC day that contains `at`.
Interval utc_day(Instant at);
// The calendar month in UTC.
Interval utc_month(Instant at);

}  // namespace pennyweight::azure
