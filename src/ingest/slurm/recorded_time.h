// Times that Slurm prints so that no zone is needed to read them.
#pragma once

#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::slurm {

// Seconds since 1970 ("1795294086", as SLURM_TIME_FORMAT=%s makes every program of Slurm print), or
// a time with its offset ("2026-11-21T15:48:06-0500", SLURM_TIME_FORMAT=%FT%T%z). Nothing when it
// is a wall-clock time, which needs a zone; an error when it is out of range.
std::optional<Result<Instant>> parse_absolute_time(std::string_view text);

}  // namespace pennyweight::slurm
