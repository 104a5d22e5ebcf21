// Durations as Slurm writes them: "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS", with ".mmm"
// after the seconds. A plain number means something else in every column (seconds in ElapsedRaw,
// minutes in TimelimitRaw), so it is not one of these.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace pennyweight::slurm {

// In milliseconds; an error for anything else, and beyond 100,000 days.
Result<std::uint64_t> parse_duration_ms(std::string_view text);

// A whole number without sign, such as a count or ElapsedRaw.
Result<std::uint64_t> parse_count(std::string_view text);

}  // namespace pennyweight::slurm
