// Counts how often a cron schedule begins a run in a month.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace pennyweight::manifests {

// How many minutes of the month fit the schedule: "*/15 9-17 * * 1-5", "@daily". The five fields
// are minute, hour, day of the month, month, day of the week (0 or 7 is Sunday); where both days
// are restricted, either suffices, as in Kubernetes (robfig/cron). Daylight saving time is ignored:
// a month has its days times 24 hours. REQUIRES: month is 1 to 12. An Error names the field.
Result<std::uint64_t> runs_in_month(std::string_view schedule, int year, unsigned month);

}  // namespace pennyweight::manifests
