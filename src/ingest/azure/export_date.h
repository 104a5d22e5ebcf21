// Dates of Azure's exports: MM/DD/YYYY, as the documentation says and without leading zeros too, or
// ISO 8601.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::azure {

// Midnight UTC of a date; an ISO text may carry a time.
Result<Instant> parse_export_date(std::string_view text);

// Whether a text is a date with the day before the month, and can be nothing else: 31/03/2026.
bool is_day_first(std::string_view text);

// The UTC day that `at` lies in.
Interval utc_day(Instant at);
// The calendar month.
Interval utc_month(Instant at);

}  // namespace pennyweight::azure
