// Times that Slurm prints in a form that needs no time zone.
#pragma once

#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::slurm {

// Seconds since 1970 ("1795294086", as SLURM_TIME_FORMAT=%s makes every program of Slurm print), or
// a time with its offset ("2026-11-21T15:48:06-0500", SLURM_TIME_FORMAT=%FT%T%z). Nothing for a
// wall-clock time, which needs a zone; an Error when it is out of range.
std::optional<Result<Instant>> parse_absolute_time(std::string_view text);

}  // namespace pennyweight::slurm
