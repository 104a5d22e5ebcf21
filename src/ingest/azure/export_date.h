// Dates of Azure's exports: MM/DD/YYYY, as the documentation says and without leading zeros too, or
// ISO 8601.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::azure {

// Midnight UTC of a date; an ISO text may carry a time.
Result<Instant> parse_export_date(std::string_view text);

// The UTC day that `at` lies in.
Interval utc_day(Instant at);
// The calendar month.
Interval utc_month(Instant at);

}  // namespace pennyweight::azure
