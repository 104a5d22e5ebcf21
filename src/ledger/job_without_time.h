// Jobs that held nothing: they never started, or ended in the second in which they began.
//
// They have no time and cost nothing, so they are no holdings; but who counts jobs counts them.
// The ledger keeps each as an outcome of a measure of its own, at the instant of its end, with the
// labels that a holding of it would have. Unit costs pass over these outcomes.
#pragma once

#include <string_view>

#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "ledger/outcome.h"

namespace pennyweight {

// The measures, which no other outcome may have.
inline constexpr std::string_view kJobsNeverStarted = "jobs_never_started";
inline constexpr std::string_view kJobsOfZeroLength = "jobs_of_zero_length";

bool is_measure_of_jobs_without_time(std::string_view measure);

// `at` is when it ended, or when it was cancelled.
Outcome job_without_time(ClusterId cluster, WorkloadId workload, std::string_view measure,
                         Instant at, Labels labels);

}  // namespace pennyweight
