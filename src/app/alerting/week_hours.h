// When hours of the week, such as business hours, are open, in a time zone.
#pragma once

#include "config/alert_config.h"
#include "core/billing_period.h"
#include "core/instant.h"

namespace pennyweight {

bool is_open(const WeekHours& hours, Instant at, const TimeZone& zone);
// `at`, or when they open next. REQUIRES: hours of some day, as parse_week_hours() gives them.
Instant next_open(const WeekHours& hours, Instant at, const TimeZone& zone);

}  // namespace pennyweight
