// The two forms in which nvidia-smi prints the time of its machine.
#pragma once

#include <string_view>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::nvidia_smi {

// "2026/07/14 09:00:27.792", the timestamp column of --query-gpu. Of an hour that occurs twice in
// the zone, the earlier is taken.
Result<Instant> parse_query_time(std::string_view text, const TimeZone& zone);

// "Tue Jul 14 09:00:26 2026", above the default table.
Result<Instant> parse_table_time(std::string_view text, const TimeZone& zone);

}  // namespace pennyweight::nvidia_smi
