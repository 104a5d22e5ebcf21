// When a job held its resources: from its recorded times to one interval.
//
// Slurm records Start, End, Suspended and Elapsed, and Elapsed = End − Start − Suspended
// (as_mysql_jobacct_process.c). The four must agree, or the row is refused. When they are
// wall-clock times of the hour after summer time, Elapsed tells which of the two hours is meant.
// Without Elapsed the shortest length that fits is taken, so that nobody is charged an hour that no
// record proves, and the span says that it was ambiguous.
//
// A suspended job gives up its GPUs, and no record says when, so suspended time comes off the end.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "core/instant.h"
#include "ingest/slurm/job_record.h"
#include "ingest/slurm/rejection.h"

namespace pennyweight::slurm {

struct JobSpan {
  Instant begin;
  Instant end;  // not before begin; the same for a job of no length
  std::uint64_t suspended_ms = 0;
  bool ambiguous = false;
  bool operator==(const JobSpan&) const = default;
};

// A job that has ended. REQUIRES: start and end.
std::expected<JobSpan, Rejection> span_of_ended(const JobRecord& job);

// A job that was running when the record was read: for as long as Elapsed says, else until `now`.
// REQUIRES: start, and no end.
std::expected<JobSpan, Rejection> span_of_running(const JobRecord& job, std::optional<Instant> now);

}  // namespace pennyweight::slurm
